import pg from 'pg';
import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import { isReadTimeout } from './is-unavailable.ts';
import { PreparedCall, type PreparedStatement } from './prepared-call.ts';

/** How much the service asks of a PostgreSQL server. */
export interface PostgresLimits {
  /** Connections at most. */
  poolSize: number;
  /** A statement, the wait for a connection, or the wait between two statements of a transaction fails after this. */
  timeoutMs: number;
  /** Something hands out connections by transaction, so that nothing may belong to a session. */
  pooler: boolean;
}

const usualLimits: PostgresLimits = { poolSize: 8, timeoutMs: 10_000, pooler: false };

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

  return {
    query: <T = Row>(text: string, params: readonly unknown[] = []) =>
      again(async () => (await pool.query(text, [...params])).rows as T[]),
    execute: <T = Row>(text: string, params: readonly (string | Buffer)[]) =>
      again(() => submit<T>(pool, prepare(text, params))),
    transaction(work, options = {}) {
      const once = () => inTransaction(pool, prepare, work, options);
      return options.unhurried === true ? once() : again(once);
    },
    close: () => pool.end(),
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
  const { poolSize, timeoutMs, pooler } = limits;
  return {
    connectionString,
    max: poolSize,
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
          idle_in_transaction_session_timeout: timeoutMs,
        }),
  };
}

type Prepare = (text: string, params: readonly (string | Buffer)[]) => PreparedCall;

/** Under its name a connection finds the statement that it has prepared; behind a pooler the next one is another. */
function createPrepare({ pooler }: PostgresLimits): Prepare {
  const statements = new Map<string, PreparedStatement>();
  return (text, params) => {
    let statement = statements.get(text);
    if (!statement) {
      const name = pooler ? '' : `statement_${statements.size + 1}`;
      statement = { text, name, by: new WeakMap() };
      statements.set(text, statement);
    }
    return new PreparedCall(statement, params, types);
  };
}

const submit = <T>(to: Pick<pg.Pool, 'query'> | pg.PoolClient, call: PreparedCall): Promise<T[]> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, rows: Row[] = []): void => {
      if (error) reject(error);
      else resolve(rows as T[]);
    };
    // The types of `pg` know no callback beside a query of another class.
    to.query(call as never, undefined as never, done as never);
  });

async function inTransaction<T>(
  pool: pg.Pool,
  prepare: Prepare,
  work: (queries: Queries) => Promise<T>,
  { unhurried = false }: TransactionOptions,
): Promise<T> {
  const client = await pool.connect();
  const query = async <R = Row>(text: string, params: readonly unknown[] = []): Promise<R[]> => {
    const patience = unhurried ? { query_timeout: noTimeoutMs } : {};
    return (await client.query({ text, values: [...params], ...patience })).rows as R[];
  };
  try {
    await query('BEGIN');
    if (unhurried) {
      await query('SET LOCAL statement_timeout = 0');
      await query('SET LOCAL idle_in_transaction_session_timeout = 0');
    }
    const result = await work({
      query,
      execute: <R = Row>(text: string, params: readonly (string | Buffer)[]) =>
        submit<R>(client, prepare(text, params)),
    });
    await query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    await giveBack(client, error);
    throw error;
  }
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
