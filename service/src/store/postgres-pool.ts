import pg from 'pg';
import {
  describeBlockers,
  isLockTimeout,
  isReadOnly,
  isReadTimeout,
  NotReplicatedError,
} from './database-errors.ts';
import { pinnedSettings } from './check-settings.ts';
import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import type { Hosts } from './postgres-hosts.ts';

/** Limits for connections to a PostgreSQL server. */
export interface PostgresLimits {
  /** Maximum number of connections for requests from players, and for deliveries. */
  poolSize: number;
  /** Timeout for running a statement, for acquiring a connection from the pool, and for idling in a transaction. */
  timeoutMs: number;
  /** How long a statement waits for a lock. */
  lockTimeoutMs: number;
  /** Whether the server is behind a transaction-mode pooler. If so, session state is not preserved. */
  pooler: boolean;
}

/**
 * Larger batches cost less per item: a transaction with one event takes 1.5 ms of CPU time, and one with 50 events
 * takes little more than twice as long.
 */
const gatherMs = 2;
/** The type OID of `bigint`. All stored values are below 2^53. */
const int8 = 20;
/**
 * Difference between the client's timeout and the server's. The server times out first, because its error contains the
 * reason. The client's timeout applies only if the server no longer responds.
 */
const graceMs = 2_000;
/** The longest delay that a timer supports. */
const noTimeoutMs = 2_147_483_647;
/** SQLSTATEs for serialization failures and deadlocks. Transactions that fail with them can be retried. */
const conflictStates = new Set(['40001', '40P01']);
const conflictAttempts = 4;

export type PooledDatabase = Database & Required<Pick<Database, 'connections'>>;

/** Opens a pool of connections to a server. */
export function openPool(
  hosts: Hosts,
  onError: (error: Error) => void,
  limits: PostgresLimits,
): PooledDatabase {
  const pool = new pg.Pool(makePoolOptions(hosts, limits));
  pool.on('error', onError);
  // The pool handles errors on idle connections only. Without this listener, losing a connection between two statements
  // of a transaction would crash the process.
  pool.on('connect', (client) => client.on('error', onError));
  const prepare = createQueryBuilder(limits);
  const checkReplicated = watchReplication(pool);
  const query = <T = Row>(text: string, params: readonly unknown[] = []): Promise<T[]> =>
    onConnection(pool, async (client) => {
      const { rows } = await client.query(text, [...params]);
      checkReplicated(client);
      return rows as T[];
    });
  const watchLocks = createLockWatch({ query });
  const deps: Deps = { pool, prepare, limits, watchLocks, checkReplicated };
  const transaction = <T>(work: (queries: Queries) => Promise<T>, options: TransactionOptions) =>
    retryConflicts(() => inTransaction(deps, work, options));

  return {
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      retryConflicts(() => query<T>(text, params)),
    // Behind a pooler, session settings don't persist, so timeouts can be set only in a transaction.
    execute: <T = Row>(text: string, params: readonly unknown[]) =>
      limits.pooler
        ? transaction((queries) => queries.execute<T>(text, params), {})
        : retryConflicts(() => executeOnConnection<T>(deps, text, params)),
    transaction: (work, options = {}) =>
      options.noTimeout === true ? inTransaction(deps, work, options) : transaction(work, options),
    gatherMs,
    close: () => pool.end(),
    maintain: (statements, lockTimeoutMs) => maintain(hosts, limits, statements, lockTimeoutMs),
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
  };
}

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;

/**
 * Returns what every connection of the service has in common. `pg` would not send a timeout of 0, which overrides the one
 * of the role, so the timeouts are startup options too.
 */
function makeSession({ timeoutMs, lockTimeoutMs, pooler }: Session): pg.ClientConfig {
  // Connection poolers reject startup parameters. Operators set these for the database role instead.
  if (pooler) return {};
  const settings = {
    ...pinnedSettings,
    // JIT compilation takes up to 600 ms per statement, which doesn't pay off for statements that read few rows.
    jit: 'off',
    statement_timeout: String(timeoutMs),
    lock_timeout: String(lockTimeoutMs),
    idle_in_transaction_session_timeout: String(timeoutMs),
  };
  const options = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ');
  return { application_name: 'trueward', options };
}

type Session = Pick<PostgresLimits, 'timeoutMs' | 'lockTimeoutMs' | 'pooler'>;

function makePoolOptions({ Client }: Hosts, limits: PostgresLimits): pg.PoolConfig {
  const { poolSize, timeoutMs } = limits;
  return {
    Client,
    max: poolSize,
    // Sends independent statements without waiting for earlier responses:
    // https://node-postgres.com/features/pipelining. Without pipelining, a quarter of the CPU time for an ad is spent
    // on system calls.
    pipeline: true,
    types,
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs + graceMs,
    ...makeSession(limits),
  };
}

async function maintain(
  { Client }: Hosts,
  { timeoutMs, pooler }: PostgresLimits,
  statements: readonly string[],
  lockTimeoutMs: number,
): Promise<void> {
  const client = new Client({
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    // Behind a pooler, the role's timeouts apply.
    ...makeSession({ timeoutMs: 0, lockTimeoutMs, pooler }),
  });
  // When the connection is lost, the running query rejects. Without a listener, the error would also crash the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Creates a query that `pg` prepares once per connection. */
type Prepare = (text: string, params: readonly unknown[]) => pg.QueryConfig;

/** Behind a pooler, statements are unnamed, because the next execution may use another connection. */
function createQueryBuilder({ pooler }: PostgresLimits): Prepare {
  const names = new Map<string, string>();
  return (text, params) => {
    const values = [...params];
    if (pooler) return { text, values };
    const name = names.get(text) ?? `statement_${names.size + 1}`;
    names.set(text, name);
    return { name, text, values };
  };
}

/** Dependencies of statements and transactions. */
interface Deps {
  pool: pg.Pool;
  prepare: Prepare;
  limits: PostgresLimits;
  watchLocks: WatchLocks;
  checkReplicated: CheckReplicated;
}

type CheckReplicated = (client: pg.PoolClient) => void;

/**
 * Detects commits whose replication was canceled. When an operator cancels a commit that waits for a synchronous
 * standby (`pg_cancel_backend`), the server reports success with a warning. The rows are lost if the standby is
 * promoted. The returned function throws a {@link NotReplicatedError} if the connection has received such a warning
 * since the last call.
 */
function watchReplication(pool: pg.Pool): CheckReplicated {
  const warnedClients = new WeakSet<pg.PoolClient>();
  pool.on('connect', (client) =>
    client.on('notice', ({ routine }) => {
      // The warning is identified by its routine, because it has no specific code and its text depends on the server's
      // language.
      if (routine === 'SyncRepWaitForLSN') warnedClients.add(client);
    }),
  );
  return (client) => {
    if (warnedClients.delete(client)) throw new NotReplicatedError();
  };
}

/** Runs `work` on a connection. `work` must never leave a transaction open. */
async function onConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(isUnusableAfter(error));
    throw error;
  }
}

/** Whether the connection is unusable after an error, because it is busy or its server has become a standby. */
const isUnusableAfter = (error: unknown): boolean => isReadTimeout(error) || isReadOnly(error);

const executeOnConnection = <T>(
  { pool, prepare, limits, watchLocks, checkReplicated }: Deps,
  text: string,
  params: readonly unknown[],
): Promise<T[]> =>
  onConnection(pool, async (client) => {
    const run = async (): Promise<T[]> => (await client.query(prepare(text, params))).rows as T[];
    const rows = await watchLocks(client, limits.lockTimeoutMs, run);
    checkReplicated(client);
    return rows;
  });

async function inTransaction<T>(
  { pool, prepare, limits, watchLocks, checkReplicated }: Deps,
  work: (queries: Queries) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const {
    noTimeout = false,
    lockTimeoutMs = limits.lockTimeoutMs,
    hasLeadingReads = false,
  } = options;
  const client = await pool.connect();
  const query = async <R = Row>(text: string, params: readonly unknown[] = []): Promise<R[]> => {
    const timeoutOverride = noTimeout ? { query_timeout: noTimeoutMs } : {};
    return (await client.query({ text, values: [...params], ...timeoutOverride })).rows as R[];
  };
  const execute = async <R = Row>(text: string, params: readonly unknown[]) =>
    (await client.query(prepare(text, params))).rows as R[];
  try {
    const beginResult = query(formatBegin(limits, options));
    if (!hasLeadingReads) await beginResult;
    const run = async (): Promise<T> =>
      (await Promise.all([work({ query, execute }), beginResult]))[0];
    const result = await (noTimeout ? run() : watchLocks(client, lockTimeoutMs, run));
    await query('COMMIT');
    checkReplicated(client);
    client.release();
    return result;
  } catch (error) {
    await releaseAfterError(client, error);
    throw error;
  }
}

/** Formats the statements that begin a transaction and apply its settings. */
function formatBegin(
  limits: PostgresLimits,
  { noTimeout, lockTimeoutMs, preferIndexes }: TransactionOptions,
): string {
  const timeouts = 'lock_timeout statement_timeout idle_in_transaction_session_timeout'.split(' ');
  const { timeoutMs, pooler } = limits;
  const settings: Record<string, number | string> = {
    ...(preferIndexes === true ? { enable_seqscan: 'off' } : {}),
    ...(pooler
      ? {
          lock_timeout: limits.lockTimeoutMs,
          statement_timeout: timeoutMs,
          idle_in_transaction_session_timeout: timeoutMs,
        }
      : {}),
    ...(lockTimeoutMs === undefined ? {} : { lock_timeout: lockTimeoutMs }),
    ...(noTimeout === true ? Object.fromEntries(timeouts.map((name) => [name, 0])) : {}),
  };
  const set = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  return ['BEGIN', ...set].join('; ');
}

type WatchLocks = <T>(
  client: pg.PoolClient,
  timeoutMs: number,
  run: () => Promise<T>,
) => Promise<T>;

/**
 * Adds the blocking sessions to the error when a statement times out on a lock. Looks up the sessions on another
 * connection while the statement is waiting, because they can't be determined afterward.
 */
function createLockWatch(queries: Pick<Queries, 'query'>): WatchLocks {
  return async (client, timeoutMs, run) => {
    let blockers = 'an unknown session';
    const timer = setTimeout(() => {
      // `pg`'s types lack this property. Behind a pooler, the id belongs to the pooler, so no session is found.
      const { processID: pid } = client as { processID?: number };
      describeBlockers(queries, pid).then(
        (found) => (blockers = found),
        () => undefined, // Some compatible servers don't have `pg_stat_activity`.
      );
    }, timeoutMs / 2);
    try {
      return await run();
    } catch (error) {
      if (isLockTimeout(error)) Object.assign(error as Error, { blockers });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Rolls back the transaction, or closes the connection if it is unusable. The server then rolls back. */
async function releaseAfterError(client: pg.PoolClient, error: unknown): Promise<void> {
  if (isUnusableAfter(error)) return client.release(true);
  await client.query('ROLLBACK').then(
    () => client.release(),
    (rollbackError: Error) => client.release(rollbackError),
  );
}

/** Retries after serialization failures and deadlocks. */
async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (attempt === conflictAttempts || !conflictStates.has(code)) throw error;
      // Adds jitter, so that the same transactions don't conflict again.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
    }
  }
}
