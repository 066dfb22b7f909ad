/** One row; what a column holds is known to the query that asked for it. */
export type Row = Record<string, unknown>;

/** The account and environment whose rows a call reads or writes. */
export interface Scope {
  accountId: string;
  environment: 'sandbox' | 'live';
}

/** Whatever runs a statement: the database itself, or a transaction of it. */
export interface Queries {
  /** Runs one statement with `$1`-style parameters. */
  query<T = Row>(text: string, params?: readonly unknown[]): Promise<T[]>;
  /**
   * Runs one statement that is run often: on a server, each connection prepares it once.
   *
   * For what inserts, and for look-ups that can go by one index only: a plan of how to find rows is kept
   * as well, and what was good for the empty partition of a new week is not for the full one.
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
   * The work begins with statements that only read or lock, so `BEGIN` need not be answered before they are sent:
   * should it fail, nothing is written outside of a transaction. Saves a round trip.
   */
  readsFirst?: boolean;
  /** Plans look-ups by ids through indexes: to read a partition as a whole is cheap only while it is empty. */
  byIndex?: boolean;
  /** For work on all rows, which takes as long as it takes: no time-out, and no second attempt. */
  unhurried?: boolean;
}

/** Connections to a server. */
export interface Connections {
  open: number;
  idle: number;
  /** Whoever waits for one. */
  waiting: number;
}

/**
 * The store. PostgreSQL is the only dialect; a database is embedded (PGlite) or a server (`pg`).
 *
 * Both answer the same: `bigint` as number, `timestamptz` as Date, `jsonb` parsed. A promise of a
 * write resolves after the commit reached the disk.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in one transaction; a rejection of it rolls back. On a server it may run more than
   * once, when others were in its way: what it changes in memory has to bear that.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
  /** Whether the last write failed because the disk is full; absent where the disk is not watched. */
  isFull?(): boolean;
  /**
   * Runs statements one by one on a connection of their own: outside a transaction, with no limit on
   * how long one takes, as `CREATE INDEX CONCURRENTLY` needs. Waiting for a lock fails after
   * `lockTimeoutMs`. Absent on the embedded database, which has one connection.
   */
  maintain?(statements: readonly string[], lockTimeoutMs: number): Promise<void>;
  /**
   * How long many writes should wait for each other, in milliseconds, where a transaction of one costs
   * nearly as much as one of many; absent: not at all.
   */
  gatherMs?: number;
  /** Absent where there are none: in the process itself. */
  connections?(): Connections;
}
