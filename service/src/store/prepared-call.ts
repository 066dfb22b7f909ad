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
  /** The connections that have prepared it. */
  readonly by: WeakSet<pg.Connection>;
  /** Known once it has been described. */
  fields: readonly Field[] | undefined;
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
  #fields: readonly Field[];
  #connection: pg.Connection | undefined;

  constructor(
    statement: PreparedStatement,
    params: readonly (string | Buffer)[],
    types: pg.CustomTypesConfig,
  ) {
    this.#statement = statement;
    this.#params = params;
    this.#types = types;
    this.#fields = statement.fields ?? [];
  }

  submit(connection: pg.Connection): void {
    const { name, text, by, fields } = this.#statement;
    this.#connection = connection;
    const call = callMessage(name, this.#params, fields === undefined);
    if (name !== '' && by.has(connection)) connection.stream.write(call);
    else {
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

  handleCommandComplete(): void {
    this.#statement.fields = this.#fields;
    if (this.#connection) this.#statement.by.add(this.#connection);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }
}
