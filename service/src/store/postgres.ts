import pg from 'pg';
import { describeBlockers } from './blockers.ts';
import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import { isLockTimeout, isReadTimeout } from './database-errors.ts';

/** How much the service asks of a PostgreSQL server. */
export interface PostgresLimits {
  /** Connections at most. */
  poolSize: number;
  /** A statement, the wait for a connection, or the wait between two statements of a transaction fails after this. */
  timeoutMs: number;
  /** A statement that waits for a lock fails after this. */
  lockTimeoutMs: number;
  /** Something hands out connections by transaction, so that nothing may belong to a session. */
  pooler: boolean;
}

const usualLimits: PostgresLimits = {
  poolSize: 8,
  timeoutMs: 10_000,
  lockTimeoutMs: 2_000,
  pooler: false,
};

/** A transaction of one event takes 1.5 ms of processor time, and one of 50 little more than twice that. */
const gatherMs = 2;
/** `bigint`; every one that is stored here is below 2^53. */
const int8 = 20;
/** The server gives up first, and says why; this is for a server that says nothing any more. */
const graceMs = 2_000;
/** The longest that a timer can wait. */
const noTimeoutMs = 2_147_483_647;
/** Serialization failure and deadlock: the server asks for the same transaction again. */
const conflictStates = new Set(['40001', '40P01']);
const conflictAttempts = 4;

/** Opens a PostgreSQL server, or whatever speaks its protocol and dialect. */
export function openPostgres(
  connectionString: string,
  onError: (error: Error) => void,
  limits: PostgresLimits = usualLimits,
): Database {
  const pool = new pg.Pool(poolOptions(connectionString, limits));
  pool.on('error', onError);
  // The pool listens to idle connections only: one that breaks inside a transaction, between two
  // statements, would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  const prepare = createPrepare(limits);
  const query = async <T = Row>(text: string, params: readonly unknown[] = []): Promise<T[]> =>
    (await pool.query(text, [...params])).rows as T[];
  const parts: Parts = { pool, prepare, limits, watchLocks: createLockWatch({ query }) };
  const transaction = <T>(work: (queries: Queries) => Promise<T>, options: TransactionOptions) =>
    again(() => inTransaction(parts, work, options));

  return {
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      again(() => query<T>(text, params)),
    // Behind a pooler a session keeps no settings: the timeouts need a transaction.
    execute: <T = Row>(text: string, params: readonly unknown[]) =>
      limits.pooler
        ? transaction((queries) => queries.execute<T>(text, params), {})
        : again(() => executeAlone<T>(parts, text, params)),
    transaction: (work, options = {}) =>
      options.unhurried === true ? inTransaction(parts, work, options) : transaction(work, options),
    gatherMs,
    close: () => pool.end(),
    maintain: (statements, lockTimeoutMs) =>
      maintain(connectionString, limits, statements, lockTimeoutMs),
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

function poolOptions(connectionString: string, limits: PostgresLimits): pg.PoolConfig {
  const { poolSize, timeoutMs, lockTimeoutMs, pooler } = limits;
  return {
    connectionString,
    max: poolSize,
    // Statements that do not wait for each other are sent together: https://node-postgres.com/features/pipelining.
    // The system calls of a statement alone took a quarter of the processor time of an ad.
    pipeline: true,
    types,
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs + graceMs,
    // A pooler refuses settings at the start of a connection; the role in the database can have them.
    ...(pooler
      ? {}
      : {
          application_name: 'trueward',
          statement_timeout: timeoutMs,
          lock_timeout: lockTimeoutMs,
          idle_in_transaction_session_timeout: timeoutMs,
        }),
  };
}

async function maintain(
  connectionString: string,
  { timeoutMs, pooler }: PostgresLimits,
  statements: readonly string[],
  lockTimeoutMs: number,
): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    // See poolOptions. Behind a pooler the timeouts of the role apply.
    ...(pooler
      ? {}
      : { application_name: 'trueward', statement_timeout: 0, lock_timeout: lockTimeoutMs }),
  });
  // A connection that breaks rejects the query under way; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A query that `pg` prepares under its name, once for each connection. */
type Prepare = (text: string, params: readonly unknown[]) => pg.QueryConfig;

/** Behind a pooler, the connection that prepared a statement may not be the one that runs it: no names there. */
function createPrepare({ pooler }: PostgresLimits): Prepare {
  const names = new Map<string, string>();
  return (text, params) => {
    const values = [...params];
    if (pooler) return { text, values };
    const name = names.get(text) ?? `statement_${names.size + 1}`;
    names.set(text, name);
    return { name, text, values };
  };
}

/** What statements and transactions share. */
interface Parts {
  pool: pg.Pool;
  prepare: Prepare;
  limits: PostgresLimits;
  watchLocks: WatchLocks;
}

async function executeAlone<T>(
  { pool, prepare, limits, watchLocks }: Parts,
  text: string,
  params: readonly unknown[],
): Promise<T[]> {
  const client = await pool.connect();
  try {
    const run = async (): Promise<T[]> => (await client.query(prepare(text, params))).rows as T[];
    const rows = await watchLocks(client, limits.lockTimeoutMs, run);
    client.release();
    return rows;
  } catch (error) {
    client.release(isReadTimeout(error));
    throw error;
  }
}

async function inTransaction<T>(
  { pool, prepare, limits, watchLocks }: Parts,
  work: (queries: Queries) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const { unhurried = false, lockTimeoutMs = limits.lockTimeoutMs, readsFirst = false } = options;
  const client = await pool.connect();
  const query = async <R = Row>(text: string, params: readonly unknown[] = []): Promise<R[]> => {
    const patience = unhurried ? { query_timeout: noTimeoutMs } : {};
    return (await client.query({ text, values: [...params], ...patience })).rows as R[];
  };
  const execute = async <R = Row>(text: string, params: readonly unknown[]) =>
    (await client.query(prepare(text, params))).rows as R[];
  try {
    const begun = query(beginOf(limits, options));
    if (!readsFirst) await begun;
    const run = async (): Promise<T> => (await Promise.all([work({ query, execute }), begun]))[0];
    const result = await (unhurried ? run() : watchLocks(client, lockTimeoutMs, run));
    await query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    await giveBack(client, error);
    throw error;
  }
}

/** Opens a transaction and changes the settings that differ from its session's, in one message. */
function beginOf(
  limits: PostgresLimits,
  { unhurried, lockTimeoutMs, byIndex }: TransactionOptions,
): string {
  const lift = 'lock_timeout statement_timeout idle_in_transaction_session_timeout'.split(' ');
  const { timeoutMs, pooler } = limits;
  const settings: Record<string, number | string> = {
    ...(byIndex === true ? { enable_seqscan: 'off' } : {}),
    ...(pooler
      ? {
          lock_timeout: limits.lockTimeoutMs,
          statement_timeout: timeoutMs,
          idle_in_transaction_session_timeout: timeoutMs,
        }
      : {}),
    ...(lockTimeoutMs === undefined ? {} : { lock_timeout: lockTimeoutMs }),
    ...(unhurried === true ? Object.fromEntries(lift.map((name) => [name, 0])) : {}),
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
 * Adds, to the error of a statement that timed out on a lock, the sessions that it waited for. They are looked
 * up on another connection while it still waits; afterwards they cannot be determined.
 */
function createLockWatch(queries: Pick<Queries, 'query'>): WatchLocks {
  return async (client, timeoutMs, run) => {
    let blockers = 'a session that could not be seen';
    const timer = setTimeout(() => {
      // Missing in the types of `pg`. Behind a pooler it is the pooler's own, and nothing is found.
      const { processID: pid } = client as { processID?: number };
      describeBlockers(queries, pid).then(
        (found) => (blockers = found),
        () => undefined, // some engines have no such view
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

/** A connection that may still be busy, or is broken, is closed; the server then rolls back by itself. */
async function giveBack(client: pg.PoolClient, error: unknown): Promise<void> {
  if (isReadTimeout(error)) return client.release(true);
  await client.query('ROLLBACK').then(
    () => client.release(),
    (broken: Error) => client.release(broken),
  );
}

/** Runs it again while the server says that others were in its way. */
async function again<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (attempt === conflictAttempts || !conflictStates.has(code)) throw error;
      // Whoever was in the way is done; only that two do not meet in step for ever.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
    }
  }
}
