import type { PGlite } from '@electric-sql/pglite';
import { serialize } from 'pg-protocol';

/** Runs a statement that hands back nothing. */
type Execute = (text: string, params: readonly (string | Uint8Array)[]) => Promise<void>;

/**
 * Statements that are prepared once, and run with one message. `query()` of PGlite takes five and
 * plans each time anew, which costs a small group of rows as much as to store them.
 */
export function createExecute(database: PGlite): Execute {
  const names = new Map<string, string>();
  let attempts = 0;
  return async (text, params) => {
    const known = names.get(text);
    // A name is not tried twice: the database may have kept it from an attempt that failed later.
    const name = known ?? `statement_${(attempts += 1)}`;
    const values = params.map((value) => (typeof value === 'string' ? value : asBuffer(value)));
    await database.execProtocol(
      Buffer.concat([
        ...(known === undefined ? [serialize.parse({ name, text })] : []),
        serialize.bind({ statement: name, values }),
        serialize.execute(),
        serialize.sync(),
      ]),
    );
    names.set(text, name);
  };
}

/** A message between threads makes a plain array of a Buffer. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
