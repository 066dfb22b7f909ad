import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import {
  listChildProcesses,
  type PrivatePostgres,
} from '../../../service/test/private-postgres.ts';
import { cpuTimeUs, treeTimeUs } from './cpu-time.ts';

/** The cost of one unit of work. */
export interface Cost {
  serviceUs: number;
  /**
   * CPU time used by the entire PostgreSQL server, excluding the meter's own connection. 0 with the embedded database.
   */
  databaseUs: number;
  /** On-disk growth of the tables and their indexes. */
  storedBytes: number;
  /** WAL volume that PostgreSQL writes. Standbys and archives receive the same volume. */
  loggedBytes: number;
}

export interface Meter {
  /** Runs the work and returns its cost, divided by `units`. */
  measure(units: number, work: () => Promise<unknown>): Promise<Cost>;
  read(): Promise<Cost>;
  /**
   * Resolves when no delivery is pending. With the embedded database, waits long enough for all deliveries to be
   * recorded.
   */
  settle(): Promise<void>;
  query<T>(text: string, params?: readonly unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

export const combine = (a: Cost, b: Cost, of: (x: number, y: number) => number): Cost => ({
  serviceUs: of(a.serviceUs, b.serviceUs),
  databaseUs: of(a.databaseUs, b.databaseUs),
  storedBytes: of(a.storedBytes, b.storedBytes),
  loggedBytes: of(a.loggedBytes, b.loggedBytes),
});

// Roll-up deltas are not counted, because they are deleted within ten seconds and their space is reused.
const counters = `SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'
    AND relnamespace = 'public'::regnamespace AND relname <> 'rollup_deltas')::bigint AS stored,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS logged`;
const limits = { poolSize: 1, timeoutMs: 600_000, lockTimeoutMs: 60_000, pooler: false };

/** Measures service processes and their PostgreSQL server, if they have one. */
export async function openMeter(
  pids: readonly number[],
  postgres?: PrivatePostgres,
  databaseUrl = postgres?.url,
): Promise<Meter> {
  const database =
    databaseUrl === undefined ? undefined : openPostgres(databaseUrl, console.error, limits);
  const query = async <T>(text: string, params: readonly unknown[] = []): Promise<T[]> =>
    (await database?.query<T>(text, params)) ?? [];
  const [own] = await query<{ pid: number }>('SELECT pg_backend_pid() AS pid');

  const read = async (): Promise<Cost> => {
    const [row] = await query<{ stored: number; logged: number }>(counters);
    const server = postgres?.pid();
    const sessions = server === undefined ? [] : listChildProcesses(server);
    return {
      serviceUs: pids.reduce((sum, pid) => sum + cpuTimeUs(pid), 0),
      databaseUs:
        server === undefined
          ? 0
          : treeTimeUs(
              server,
              sessions.filter((pid) => pid !== own?.pid),
            ),
      storedBytes: row?.stored ?? 0,
      loggedBytes: row?.logged ?? 0,
    };
  };
  return {
    read,
    query,
    async measure(units, work) {
      const before = await read();
      await work();
      return combine(await read(), before, (after, earlier) => (after - earlier) / units);
    },
    async settle() {
      if (!database) return sleep(200);
      for (;;) {
        const [row] = await query<{ pending: boolean }>(
          `SELECT EXISTS (SELECT FROM deliveries WHERE state = 'pending') AS pending`,
        );
        if (row?.pending !== true) return;
        await sleep(20);
      }
    },
    close: async () => database?.close(),
  };
}

let databases = 0;

/** Creates an empty database on the server and returns its URL. */
export async function createDatabase({ url }: PrivatePostgres): Promise<string> {
  const name = `bench_${(databases += 1)}`;
  const server = openPostgres(url, console.error, limits);
  await server.query(`CREATE DATABASE ${name}`);
  await server.close();
  return url.replace(/[^/]*$/, name);
}
