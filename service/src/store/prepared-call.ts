import { serialize } from 'pg-protocol';
import type pg from 'pg';
import { callMessage } from './call-message.ts';
import type { Row } from './database.ts';

/** A column of an answer. */
export interface Field {
  name: string;
  read(text: string): unknown;
}

/** A statement that is run often, and what is known of it. */
export interface PreparedStatement {
  text: string;
  /** Empty where each connection may be another one: it is prepared anew each time then. */
  name: string;
  /**
   * The connections that have prepared it, with the columns that were described then: one that prepares
   * it later may find a table changed. The server refuses it on the earlier ones then.
   */
  readonly by: WeakMap<pg.Connection, readonly Field[]>;
}

interface RowDescription {
  fields: { name: string; dataTypeID: number }[];
}

/**
 * One run of a prepared statement, as `pg` lets others submit them
 * ([pg-cursor](https://node-postgres.com/apis/cursor) is one). Its own query copies each value twice,
 * writes four messages, and asks for the columns each time, which takes a twentieth of the processor
 * time of a decision.
 */
export class PreparedCall implements pg.Submittable {
  /** Called once it has ended; set by whoever submits it. */
  callback: ((error: Error | null, rows?: Row[]) => void) | undefined;
  readonly #statement: PreparedStatement;
  readonly #params: readonly (string | Buffer)[];
  readonly #types: pg.CustomTypesConfig;
  readonly #rows: Row[] = [];
  #fields: readonly Field[] = [];

  constructor(
    statement: PreparedStatement,
    params: readonly (string | Buffer)[],
    types: pg.CustomTypesConfig,
  ) {
    this.#statement = statement;
    this.#params = params;
    this.#types = types;
  }

  submit(connection: pg.Connection): void {
    const { name, text, by } = this.#statement;
    const fields = name === '' ? undefined : by.get(connection);
    const call = callMessage(name, this.#params, fields === undefined);
    if (fields) {
      this.#fields = fields;
      connection.stream.write(call);
    } else {
      // An attempt that failed after it may have left it there.
      const close = serialize.close({ type: 'S', name });
      connection.stream.write(Buffer.concat([close, serialize.parse({ name, text }), call]));
    }
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#fields = fields.map(({ name, dataTypeID }) => ({
      name,
      read: this.#types.getTypeParser(dataTypeID, 'text') as Field['read'],
    }));
  }

  handleDataRow({ fields: texts }: { fields: (string | null)[] }): void {
    const row: Row = {};
    for (const [index, { name, read }] of this.#fields.entries()) {
      const text = texts[index] ?? null;
      row[name] = text === null ? null : read(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(_message: unknown, connection: pg.Connection): void {
    this.#statement.by.set(connection, this.#fields);
  }

  /** It is prepared anew next time: this connection may have lost it, or a table of it was changed. */
  handleError(error: Error, connection: pg.Connection): void {
    this.#statement.by.delete(connection);
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }
}
