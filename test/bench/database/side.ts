import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listHostUrls } from '../../../service/src/platform/list-host-urls.ts';
import { readCitusRole } from '../../../service/src/store/citus.ts';
import type { Database } from '../../../service/src/store/database.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { createDatabaseOn } from '../../../service/test/create-database.ts';
import { type RunningService, startService } from '../../../service/test/start-service.ts';
import { type Client, createClient } from '../service/ads.ts';
import { cpuTimeUs } from '../service/cpu-time.ts';
import { findServer, type LocalServer } from './servers.ts';

/** A database under test: a new database on the servers that one `--url` names. */
export interface Side {
  name: string;
  /** URLs of all hosts that the service may connect to. In a cluster, the coordinator comes first. */
  urls: string[];
  /** All servers that the database runs on, including workers that the URL does not name. */
  servers: LocalServer[];
  isCluster: boolean;
  /** A connection to the first host. */
  admin: Database;
  /** Starts the service with a demo account. Calls with the same `account` name use the same account. */
  start(url: string, account?: string): Promise<RunningService>;
  stop(): Promise<void>;
}

/**
 * Creates a database on the servers. The database is not dropped afterwards.
 *
 * @param argument `name=postgres://…`, with several hosts separated by commas
 * @throws Error if `argument` has a different format, or if a server is not running on this machine
 */
export async function openSide(argument: string): Promise<Side> {
  const [, name, url = ''] = /^([^=]+)=(postgres(?:ql)?:\/\/.*)$/.exec(argument) ?? [];
  const [first, ...otherHosts] = listHostUrls(url);
  if (name === undefined || first === undefined)
    throw new Error(`--url is ${argument}; expected name=postgres://user@host:port/database.`);
  const database = `bench_${randomBytes(4).toString('hex')}`;
  const adminUrl = await createDatabaseOn(first, database);
  const urls = [adminUrl, ...otherHosts.map((other) => other.replace(/[^/]*$/, database))];
  const limits = { poolSize: 1, timeoutMs: 60_000, lockTimeoutMs: 60_000, pooler: false };
  // When a worker is killed, the coordinator may terminate sessions too. The affected statements report that error, so
  // the connection's error handler ignores it.
  const admin = openPostgres(adminUrl, () => undefined, limits);
  const isCluster = (await readCitusRole(admin)) !== undefined;
  const nodes = isCluster
    ? await admin.query<{ port: number }>(
        `SELECT nodeport AS port FROM pg_dist_node WHERE noderole = 'primary'`,
      )
    : [];
  const ports = new Set([
    ...urls.map((url) => Number(new URL(url).port || 5432)),
    ...nodes.map(({ port }) => port),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'trueward-bench-'));
  const masterKey = randomBytes(32).toString('base64');
  return {
    name,
    urls,
    servers: [...ports].map(findServer),
    isCluster,
    admin,
    start: (to, account = 'one') => {
      const dataDir = join(folder, account);
      mkdirSync(dataDir, { recursive: true });
      return startService({
        dataDir,
        env: {
          RATE_LIMITS: 'off',
          NODE_OPTIONS: '--max-semi-space-size=32',
          TRUEWARD_MASTER_KEY: masterKey,
          DATABASE_URL: to,
          DATABASE_ADMIN_URL: adminUrl,
        },
      });
    },
    async stop() {
      await admin.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One service process per host. The requests to the demo account's sandbox are distributed across the processes. */
export interface Processes {
  clients: Client[];
  /** Returns the CPU time that all service processes and all database servers have used so far. */
  read(): { serviceUs: number; databaseUs: number };
  stop(): Promise<void>;
}

export async function startProcesses(side: Side, connections: number): Promise<Processes> {
  const services: RunningService[] = [];
  for (const url of side.urls) services.push(await side.start(url));
  const clients = services.map(({ url, keys }) =>
    createClient(url, keys.sandbox, Math.ceil(connections / services.length)),
  );
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    clients,
    read: () => ({
      serviceUs: sum(services.map((service) => cpuTimeUs(service.process.pid ?? 0))),
      databaseUs: sum(side.servers.map((server) => server.cpuTimeUs())),
    }),
    async stop() {
      for (const client of clients) await client.close();
      for (const service of services) await service.stop();
    },
  };
}
