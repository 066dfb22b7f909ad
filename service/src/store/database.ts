/** A row returned by a query without a type argument. */
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
   * Runs a frequently used statement. On a server, each connection prepares the statement once and caches its plan.
   *
   * Use this only for inserts and for lookups with a single suitable index. The best plan for any other query depends
   * on the size of a week's partition, which starts out empty.
   */
  execute<T = Row>(text: string, params: readonly unknown[]): Promise<T[]>;
}

export interface TransactionOptions {
  /**
   * How long a statement waits for a lock. Default: `lockTimeoutMs` in the server's limits. Has no effect on the
   * embedded database, which has only one connection.
   */
  lockTimeoutMs?: number;
  /**
   * Whether `work` starts with statements that only read or lock. If so, they are pipelined with `BEGIN`, which saves a
   * round trip. Because they don't write, nothing is written outside a transaction if `BEGIN` fails.
   */
  hasLeadingReads?: boolean;
  /**
   * Makes the planner prefer indexes. Set this for lookups by id, because the planner may choose a sequential scan
   * while a partition is empty.
   */
  preferIndexes?: boolean;
  /** Disables timeouts and retries, for statements that process entire tables. */
  noTimeout?: boolean;
}

/**
 * Returns the database for what an operator reads: lists, reports, exports. It has its own connections and shorter time
 * limits, or a lower priority if it is embedded, so that no number of slow reads delays an ad.
 */
export const forReads = (database: Database): Database => database.reads ?? database;

/** Returns the database for operators' changes. They lock, so they could wait for each other on all connections. */
export const forChanges = (database: Database): Database => database.changes ?? database;

/** Like {@link forReads}, for maintenance jobs, in which nobody waits for a single statement. */
export const forBackground = (database: Database): Database => database.background ?? database;

/** The state of the connection pool. */
export interface Connections {
  open: number;
  idle: number;
  /** Number of callers waiting for a connection. */
  waiting: number;
}

/**
 * The service's database: PostgreSQL on a server (`pg`), or embedded PostgreSQL (PGlite).
 *
 * Both return `bigint` as a number, `timestamptz` as a Date, and `jsonb` as the parsed value. Writes resolve when the
 * commit is on disk.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in a transaction. Rolls the transaction back if `work` rejects. On a server, `work` runs again after a
   * serialization failure or a deadlock, so its in-memory side effects must be idempotent.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
  /** Use {@link forReads}. */
  reads?: Database;
  /** Use {@link forChanges}. */
  changes?: Database;
  /** Use {@link forBackground}. */
  background?: Database;
  /**
   * The database in which to run schema changes: the coordinator of a Citus cluster. If absent, run them in this
   * database. Closed together with this database.
   */
  schema?: Database;
  /** Whether the disk is full. Absent if the disk is not monitored. */
  isFull?(): boolean;
  /**
   * Runs statements one by one on a separate connection, without a transaction or a statement timeout, as required by
   * `CREATE INDEX CONCURRENTLY`. A statement fails if it waits for a lock for more than `lockTimeoutMs`. Absent for the
   * embedded database, which has only one connection.
   */
  maintain?(statements: readonly string[], lockTimeoutMs: number): Promise<void>;
  /**
   * How long a group commit should wait for more items, in milliseconds. A transaction with many items costs little
   * more than a transaction with one item. If absent, a group commit should not wait.
   */
  gatherMs?: number;
  /** Absent for the embedded database. */
  connections?(): Connections;
}
