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
   * Runs a statement that is used often. On a server, each connection prepares the statement only once.
   *
   * Use this only for inserts, and for lookups for which only one index is suitable. The server caches the query plan
   * too, and a plan that is good while a new week's partition is empty is bad once the partition is full.
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
   * Whether the first statements of the work only read or lock. These are then sent without waiting for the response to
   * `BEGIN`, which saves a round trip. This is safe, because nothing is written outside a transaction if `BEGIN` fails.
   */
  hasLeadingReads?: boolean;
  /**
   * Makes the planner prefer indexes. Set it for lookups by id: a sequential scan is cheap only while a partition is
   * empty.
   */
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
   * Runs `work` in one transaction, which is rolled back if `work` rejects. On a server, `work` may run again after a
   * serialization failure or a deadlock. Any changes that it makes in memory must therefore be repeatable.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
  /**
   * The database to use for schema changes, if it's a different one: the coordinator of a Citus cluster. It is closed
   * together with this database.
   */
  schema?: Database;
  /** Returns whether the last write failed because the disk is full. Absent if the disk is not watched. */
  isFull?(): boolean;
  /**
   * Runs statements one by one on a separate connection, outside a transaction and without a statement timeout. `CREATE
   * INDEX CONCURRENTLY` needs this. A statement fails if it waits for a lock longer than `lockTimeoutMs`. Absent for
   * the embedded database, which has only one connection.
   */
  maintain?(statements: readonly string[], lockTimeoutMs: number): Promise<void>;
  /**
   * How long a group commit should wait for more items, in milliseconds. Waiting helps because a transaction with one
   * item costs nearly as much as a transaction with many. If absent, a group commit should not wait.
   */
  gatherMs?: number;
  /** Absent for the embedded database. */
  connections?(): Connections;
}
