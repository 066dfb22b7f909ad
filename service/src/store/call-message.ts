/**
 * What asks PostgreSQL to run a prepared statement: Bind, Describe, Execute and Sync
 * ([message formats](https://www.postgresql.org/docs/current/protocol-message-formats.html)) in one
 * piece, as each piece costs more to hand on than to make.
 *
 * @param statement - its name; empty: the one without
 * @param params - a text, or a Buffer in binary format
 * @param describes - whether the answer tells the columns of its rows
 */
export function callMessage(
  statement: string,
  params: readonly (string | Buffer)[],
  describes: boolean,
): Buffer {
  const sizes = params.map((param) => Buffer.byteLength(param));
  const bindSize =
    13 + statement.length + 6 * params.length + sizes.reduce((sum, size) => sum + size, 0);
  const message = Buffer.allocUnsafe(bindSize + (describes ? 7 : 0) + 15);
  let end = begin(message, 0, 'B', bindSize);
  message[end++] = 0; // the portal without a name
  end += message.write(`${statement}\0`, end);
  end = message.writeInt16BE(params.length, end);
  for (const param of params) end = message.writeInt16BE(typeof param === 'string' ? 0 : 1, end);
  end = message.writeInt16BE(params.length, end);
  for (const [index, param] of params.entries()) {
    end = message.writeInt32BE(sizes[index] ?? 0, end);
    end += typeof param === 'string' ? message.write(param, end) : param.copy(message, end);
  }
  end = message.writeInt16BE(0, end); // all columns as text
  if (describes) {
    end = begin(message, end, 'D', 7);
    end += message.write('P\0', end);
  }
  end = begin(message, end, 'E', 10);
  message[end++] = 0;
  end = message.writeInt32BE(0, end); // all rows
  begin(message, end, 'S', 5);
  return message;
}

/** @param size - with the letter, which a message does not count */
function begin(message: Buffer, at: number, letter: string, size: number): number {
  message[at] = letter.charCodeAt(0);
  return message.writeInt32BE(size - 1, at + 1);
}
