import { ConnectionsBusyError } from './database-errors.ts';
import type { Database, Row } from './database.ts';
import { createHosts } from './postgres-hosts.ts';
import { openPool, type PooledDatabase, type PostgresLimits } from './postgres-pool.ts';

const defaultLimits: PostgresLimits = {
  poolSize: 8,
  timeoutMs: 10_000,
  lockTimeoutMs: 2_000,
  pooler: false,
};

/** Limits for operators' reads. A page of a list takes a few milliseconds, and a long report half a second. */
const readLimits = { poolSize: 3, timeoutMs: 5_000, lockTimeoutMs: 1_000 };
/** Operators change one thing at a time, and an emergency stop waits for neither a list nor an ad. */
const changeLimits = { poolSize: 2 };
/** Limits for maintenance jobs. One job at a time may take long, and another one folds the roll-ups meanwhile. */
const backgroundLimits = { poolSize: 2 };

/**
 * Connects to a PostgreSQL server, a compatible server, or a node of a cluster.
 *
 * @param schemaUrl the server for schema changes (default: `connectionString`)
 */
export function openPostgres(
  connectionString: string,
  onError: (error: Error) => void,
  limits: PostgresLimits = defaultLimits,
  schemaUrl?: string,
): Database {
  const hosts = createHosts(connectionString);
  const open = (special: Partial<PostgresLimits>, ownHosts = hosts) =>
    openPool(ownHosts, onError, { ...limits, ...special });
  const serving = open({});
  const reads = translateWaits(
    open({
      ...readLimits,
      timeoutMs: Math.min(readLimits.timeoutMs, limits.timeoutMs),
      lockTimeoutMs: Math.min(readLimits.lockTimeoutMs, limits.lockTimeoutMs),
    }),
  );
  const changes = translateWaits(open(changeLimits));
  const background = translateWaits(open(backgroundLimits));
  const schema =
    schemaUrl === undefined ? undefined : open({ poolSize: 2 }, createHosts(schemaUrl));
  const pools = [serving, reads, changes, background];
  return {
    ...serving,
    reads,
    changes,
    background,
    ...(schema && { schema }),
    async close() {
      await Promise.all([...pools, ...(schema ? [schema] : [])].map((pool) => pool.close()));
    },
    connections: () =>
      pools
        .map((pool) => pool.connections())
        .reduce((total, { open, idle, waiting }) => ({
          open: total.open + open,
          idle: total.idle + idle,
          waiting: total.waiting + waiting,
        })),
  };
}

/** If no connection becomes free in time, the server isn't unreachable: other work still has connections. */
function translateWaits(database: PooledDatabase): PooledDatabase {
  const translate = (error: unknown): never => {
    const isWait = error instanceof Error && /when trying to connect/.test(error.message);
    throw isWait ? new ConnectionsBusyError(error) : error;
  };
  return {
    ...database,
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      database.query<T>(text, params).catch(translate),
    execute: <T = Row>(text: string, params: readonly unknown[]) =>
      database.execute<T>(text, params).catch(translate),
    transaction: (work, options) => database.transaction(work, options).catch(translate),
  };
}
