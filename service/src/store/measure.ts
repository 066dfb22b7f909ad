import type { Database, Queries, Row, TransactionOptions } from './database.ts';

/** Tells how long each statement on its own and each transaction took, whether or not it succeeded. */
export function measure(
  database: Database,
  observe: (kind: 'statement' | 'transaction', seconds: number) => void,
): Database {
  const timed = async <T>(kind: 'statement' | 'transaction', ask: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    try {
      return await ask();
    } finally {
      observe(kind, (performance.now() - startedMs) / 1_000);
    }
  };
  return {
    ...database,
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      timed('statement', () => database.query<T>(text, params)),
    execute: <T = Row>(text: string, params: readonly (string | Buffer)[]) =>
      timed('statement', () => database.execute<T>(text, params)),
    transaction: <T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions) =>
      timed('transaction', () => database.transaction(work, options)),
  };
}
