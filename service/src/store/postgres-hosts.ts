import pg from 'pg';
import { listHostUrls } from '../platform/list-host-urls.ts';
import { StandbyError } from './database-errors.ts';

/** The hosts of a database: the nodes of a cluster, or a primary and its standbys. */
export interface Hosts {
  /** The URL of the host in use. */
  url(): string;
  /**
   * The client class for the pool. A client connects to the host in use. If that fails or the host is a standby, the
   * next host is used from then on.
   */
  Client: new (config?: string | pg.ClientConfig) => pg.Client;
}

/** The callback that `pg` passes to `connect`. */
type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * Uses one host at a time, starting with a random one. The processes of a service are thus spread over the nodes of a
 * cluster.
 */
export function createHosts(connectionString: string, random = Math.random): Hosts {
  const urls = listHostUrls(connectionString);
  let current = Math.floor(random() * urls.length);
  const url = (): string => urls[current % urls.length] ?? connectionString;

  class Client extends pg.Client {
    readonly #used: string;

    constructor(config?: string | pg.ClientConfig) {
      const used = url();
      super({ ...(typeof config === 'object' ? config : {}), connectionString: used });
      this.#used = used;
    }

    async #connect(): Promise<pg.Client> {
      await super.connect();
      // If there is only one host, it's used even if it is a standby, because reads work there.
      if (urls.length > 1) await this.#rejectStandby();
      return this;
    }

    /** Does the same as `target_session_attrs=primary` of libpq, which `pg` does not support. */
    async #rejectStandby(): Promise<void> {
      // The pool listens for errors only once `connect` has finished; until then, a broken connection would end the
      // process.
      const ignore = (): void => undefined;
      this.on('error', ignore);
      try {
        const { rows } = await this.query<{ standby: boolean }>(
          'SELECT pg_is_in_recovery() AS standby',
        );
        if (rows[0]?.standby === true) throw new StandbyError(`${this.host}:${this.port}`);
        this.off('error', ignore);
      } catch (error) {
        this.end().catch(ignore);
        throw error;
      }
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<pg.Client> | void {
      const connected = this.#connect().catch((error: unknown) => {
        // Switches hosts before the failure is reported, so that the next attempt uses the next host.
        if (this.#used === url()) current += 1;
        throw error;
      });
      if (callback === undefined) return connected;
      const report = callback as (error: Error | null, client?: pg.Client) => void;
      connected.then((client) => report(null, client), report);
    }
  }
  return { url, Client };
}
