import pg from 'pg';
import { urlsOfHosts } from '../platform/urls-of-hosts.ts';

/** The hosts of a database, of which every one can run every statement. */
export interface Hosts {
  /** The URL of the host in use. */
  url(): string;
  /** A client for the pool, which connects to the host in use. When that fails, the next one is used from then on. */
  Client: new (config?: string | pg.ClientConfig) => pg.Client;
}

/**
 * Uses one host at a time, the first of them at random, so that the processes of a service spread over the nodes of a
 * cluster.
 */
export function createHosts(connectionString: string, random = Math.random): Hosts {
  const urls = urlsOfHosts(connectionString);
  let current = Math.floor(random() * urls.length);
  const url = (): string => urls[current % urls.length] ?? connectionString;

  class Client extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      const used = url();
      super({ ...(typeof config === 'object' ? config : {}), connectionString: used });
      let connected = false;
      this.once('connect', () => (connected = true));
      this.once('end', () => {
        if (!connected && used === url()) current += 1;
      });
    }
  }
  return { url, Client };
}
