import { serialize } from 'pg-protocol';
import { callMessage } from '../call-message.ts';
import type { Queries, Row } from '../database.ts';

/**
 * Statements that are prepared once, and run with one message of the protocol. `query()` of PGlite
 * takes five and plans each time anew, which costs a small group of rows as much as to store them.
 *
 * @param send - has the one connection of the database run a message
 */
export function createExecute(send: (message: Uint8Array) => Promise<Row[]>): Queries['execute'] {
  const names = new Map<string, string>();
  let attempts = 0;
  return async <T = Row>(text: string, params: readonly (string | Buffer)[]) => {
    const known = names.get(text);
    // A name is not tried twice: the database may have kept it from an attempt that failed later.
    const name = known ?? `statement_${(attempts += 1)}`;
    const call = callMessage(name, params, true);
    const message =
      known === undefined ? Buffer.concat([serialize.parse({ name, text }), call]) : call;
    const rows = await send(message);
    names.set(text, name);
    return rows as T[];
  };
}
