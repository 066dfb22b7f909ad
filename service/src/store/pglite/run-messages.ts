import { messages, parse, protocol, type PGlite } from '@electric-sql/pglite';

const letter = (text: string): number => text.charCodeAt(0);
/** A row and an error; what else an answer holds says only that all went well. */
const worthReading = new Set([letter('D'), letter('E')]);

/**
 * Has the database run messages of PostgreSQL's protocol, and hands back the rows. `execProtocol()` of
 * PGlite reads every answer, and waits for its file system, which has nothing to wait for here: that
 * takes longer than the round trip itself.
 */
export async function runMessages(
  database: PGlite,
  request: Uint8Array,
): Promise<Record<string, unknown>[]> {
  const parts: Buffer[] = [];
  const onRawData = (part: Uint8Array): void => {
    parts.push(Buffer.from(part)); // a copy: it lies in the memory of the database
  };
  await database.execProtocolRawStream(request, { syncToFs: false, onRawData });
  const answer = Buffer.concat(parts);
  if (!isWorthReading(answer)) return [];

  const read: messages.BackendMessage[] = [];
  new protocol.Parser().parse(answer, (message) => read.push(message));
  const error = read.find((message) => message instanceof messages.DatabaseError);
  if (error) throw error;
  return (parse.parseResults(read, database.parsers)[0]?.rows ?? []) as Record<string, unknown>[];
}

function isWorthReading(answer: Buffer): boolean {
  for (let at = 0; at < answer.length; at += 1 + answer.readInt32BE(at + 1))
    if (worthReading.has(answer.readUInt8(at))) return true;
  return false;
}
