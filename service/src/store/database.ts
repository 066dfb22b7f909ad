/** One row; the query knows the types of its columns. */
export type Row = Record<string, unknown>;

/** The account and environment whose rows a call reads or writes. */
export interface Scope {
  accountId: string;
  environment: 'sandbox' | 'live';
}

/** Runs statements: the database itself, or a transaction. */
export interface Queries {
  /** Runs one statement with `$1`-style parameters. */
  query<T = Row>(text: string, params?: readonly unknown[]): Promise<T[]>;
  /**
   * Runs a frequent statement: on a server, each connection prepares it once.
   *
   * Suitable for inserts, and for lookups that only one index can serve: the server also caches the query plan,
   * and a good plan for a new week's empty partition is a bad one for the full partition.
   */
  execute<T = Row>(text: string, params: readonly unknown[]): Promise<T[]>;
}

export interface TransactionOptions {
  /**
   * How long a statement waits for a lock, in milliseconds. Default: `lockTimeoutMs` of the server's limits.
   * No effect on the embedded database, which has one connection.
   */
  lockTimeoutMs?: number;
  /**
   * The work begins with statements that only read or lock, so they are sent without waiting for the response to
   * `BEGIN`: if that fails, nothing is written outside a transaction. Saves a round trip.
   */
  readsFirst?: boolean;
  /** Makes the planner prefer indexes for lookups by id, because a sequential scan is cheap only while a partition is empty. */
  byIndex?: boolean;
  /** Disables timeouts and retries, for work on all rows. */
  noTimeout?: boolean;
}

/** The state of the connection pool. */
export interface Connections {
  open: number;
  idle: number;
  /** Callers that wait for a connection. */
  waiting: number;
}

/**
 * The store. PostgreSQL is the only dialect; a database is embedded (PGlite) or a server (`pg`).
 *
 * Both return `bigint` as number, `timestamptz` as Date, and `jsonb` parsed. The promise of a write resolves
 * when the commit is on disk.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in one transaction, which is rolled back if `work` rejects. On a server, `work` may run again after
   * a serialization failure or a deadlock, so its effects on memory must be repeatable.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
  /** The database for schema changes, if not this one: the coordinator of a Citus cluster. Closed together with this one. */
  schema?: Database;
  /** Whether the last write failed because the disk is full; absent if the disk is not watched. */
  isFull?(): boolean;
  /**
   * Runs statements one by one on a separate connection, outside a transaction and without a statement timeout, as
   * `CREATE INDEX CONCURRENTLY` needs. Waiting for a lock fails after `lockTimeoutMs`. Absent on the embedded
   * database, which has one connection.
   */
  maintain?(statements: readonly string[], lockTimeoutMs: number): Promise<void>;
  /**
   * How long a group commit should wait for more items, in milliseconds: a transaction of one item costs nearly as
   * much as one of many. Absent: it should not wait.
   */
  gatherMs?: number;
  /** Absent on the embedded database. */
  connections?(): Connections;
}
