import pg from 'pg';
import { listHostUrls } from '../platform/list-host-urls.ts';
import { StandbyError } from './database-errors.ts';

/** A database's hosts: the nodes of a cluster, or a primary and its standbys. */
export interface Hosts {
  /**
   * The client class for the pool. Clients connect to the host in use. If a client can't connect or the host is a
   * standby, later clients use the next host.
   */
  Client: new (config?: string | pg.ClientConfig) => pg.Client;
}

/** Parameters of a URL that `pg` would prefer to the service's own. */
const ownParameters = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

/**
 * Adds startup options to those in a URL, such as `?options=-c search_path=ads`, which `pg` would use instead. Of a setting
 * that both have, the added one counts, because it comes last.
 */
function mergeOptions(url: string, added: string | undefined): string {
  const [base = url, query] = url.split('?', 2);
  if (added === undefined || query === undefined) return url;
  const parameters = new URLSearchParams(query);
  for (const name of ownParameters) parameters.delete(name);
  const given = parameters.get('options');
  if (given !== null) parameters.set('options', `${given} ${added}`);
  return `${base}?${parameters}`;
}

/** `pg`'s callback for a new connection. */
type ConnectCallback = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * Uses one host at a time. The first host is random, which spreads a service's processes across the cluster's nodes.
 */
export function createHosts(connectionString: string, random = Math.random): Hosts {
  const urls = listHostUrls(connectionString);
  let hostIndex = Math.floor(random() * urls.length);
  const url = (): string => urls[hostIndex % urls.length] ?? connectionString;

  class Client extends pg.Client {
    readonly #hostUrl: string;

    constructor(config?: string | pg.ClientConfig) {
      const hostUrl = url();
      const settings = typeof config === 'object' ? config : {};
      super({ ...settings, connectionString: mergeOptions(hostUrl, settings.options) });
      this.#hostUrl = hostUrl;
      // The pool adds its error listeners only after `connect` has finished. Without a listener, losing the connection
      // in between, for example because the server shuts down, would crash the process.
      this.on('error', () => undefined);
    }

    async #connect(): Promise<pg.Client> {
      await super.connect();
      // A standby is accepted if it is the only host, because it can still serve reads.
      if (urls.length > 1) await this.#rejectStandby();
      return this;
    }

    /** Has the same effect as `target_session_attrs=primary` in libpq, which `pg` does not support. */
    async #rejectStandby(): Promise<void> {
      try {
        const { rows } = await this.query<{ standby: boolean }>(
          'SELECT pg_is_in_recovery() AS standby',
        );
        if (rows[0]?.standby === true) throw new StandbyError(`${this.host}:${this.port}`);
      } catch (error) {
        this.end().catch(() => undefined);
        throw error;
      }
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: ConnectCallback): void;
    override connect(callback?: ConnectCallback): Promise<pg.Client> | void {
      const connection = this.#connect().catch((error: unknown) => {
        // Switches to the next host before the failure is reported, so that a retry uses it.
        if (this.#hostUrl === url()) hostIndex += 1;
        throw error;
      });
      if (callback === undefined) return connection;
      const report = callback as (error: Error | null, client?: pg.Client) => void;
      connection.then((client) => report(null, client), report);
    }
  }
  return { Client };
}
