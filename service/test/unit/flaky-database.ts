import type { Database } from '../../src/store/database.ts';

/** Creates an error with PostgreSQL's or Node's code for it. */
export const createError = (code: string) => Object.assign(new Error('no'), { code });

/** A database that counts its statements, which fail with `error` while there is one. */
export function createFlakyDatabase() {
  const state: { error: Error | undefined; statements: number } = {
    error: undefined,
    statements: 0,
  };
  const request = async (): Promise<never[]> => {
    state.statements += 1;
    if (state.error) throw state.error;
    return [];
  };
  const database: Database = {
    query: request,
    execute: request,
    transaction: ((work) =>
      request().then(() => work({ query: request, execute: request }))) as Database['transaction'],
    close: async () => undefined,
  };
  return { state, database };
}
