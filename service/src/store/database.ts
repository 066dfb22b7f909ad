/** A row whose column types are known only to the query. */
export type Row = Record<string, unknown>;

/** The account and environment whose rows a call reads or writes. */
export interface Scope {
  accountId: string;
  environment: 'sandbox' | 'live';
}

/** Runs statements, either directly on the database or in a transaction. */
export interface Queries {
  /** Runs one statement with `$1`-style parameters. */
  query<T = Row>(text: string, params?: readonly unknown[]): Promise<T[]>;
  /**
   * Runs a statement that is used frequently: on a server, each connection prepares it only once.
   *
   * Use it only for inserts, and for lookups that only one index can serve: the server also caches the query plan, and
   * a plan that is good for a new week's empty partition is bad for the full partition.
   */
  execute<T = Row>(text: string, params: readonly unknown[]): Promise<T[]>;
}

export interface TransactionOptions {
  /**
   * How long a statement waits for a lock, in milliseconds. Defaults to `lockTimeoutMs` in the server's limits. Has no
   * effect on the embedded database, which has only one connection.
   */
  lockTimeoutMs?: number;
  /**
   * Whether the work begins with statements that only read or lock. They are then sent without waiting for the response
   * to `BEGIN`, which saves a round trip: if `BEGIN` fails, nothing is written outside a transaction.
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
  /** Number of callers waiting for a connection. */
  waiting: number;
}

/**
 * The database of the service. PostgreSQL is the only dialect: the database is either embedded (PGlite) or on a server
 * (`pg`).
 *
 * Both return `bigint` as number, `timestamptz` as Date, and `jsonb` parsed. The promise of a write resolves when the
 * commit is on disk.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in one transaction, which is rolled back if `work` rejects. On a server, `work` may run again after
   * a serialization failure or a deadlock, so its effects on memory must be repeatable.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
  /**
   * The database for schema changes if it is a different one: the coordinator of a Citus cluster. Closed together with
   * this database.
   */
  schema?: Database;
  /** Returns whether the last write failed because the disk is full. Absent if the disk is not watched. */
  isFull?(): boolean;
  /**
   * Runs statements one by one on a separate connection, outside a transaction and without a statement timeout, as
   * `CREATE INDEX CONCURRENTLY` needs. Waiting for a lock fails after `lockTimeoutMs`. Absent for the embedded
   * database, which has only one connection.
   */
  maintain?(statements: readonly string[], lockTimeoutMs: number): Promise<void>;
  /**
   * How long a group commit should wait for more items, in milliseconds: a transaction with one item costs nearly as
   * much as a transaction with many. If absent, it should not wait.
   */
  gatherMs?: number;
  /** Absent for the embedded database. */
  connections?(): Connections;
}
