/** One row; what a column holds is known to the query that asked for it. */
export type Row = Record<string, unknown>;

/** Whatever runs a statement: the database itself, or a transaction of it. */
export interface Queries {
  /** Runs one statement with `$1`-style parameters. */
  query<T = Row>(text: string, params?: readonly unknown[]): Promise<T[]>;
}

/**
 * The store. PostgreSQL is the only dialect; a database is embedded (PGlite) or a server (`pg`).
 *
 * Both answer the same: `bigint` as number, `timestamptz` as Date, `jsonb` parsed. A promise of a
 * write resolves after the commit reached the disk.
 */
export interface Database extends Queries {
  /** Runs `work` in one transaction; a rejection of it rolls back. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
