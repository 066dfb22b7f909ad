import { createWriteStream } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { exportRows } from '../store/transfer/export-rows.ts';
import { type Command, CommandError, readArguments, say } from './command.ts';
import { createProgress } from './progress.ts';
import { withDatabase } from './with-database.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'write everything in the database to a file',
  help: `Usage: trueward-service export [--out <file>]

  --out <file>  a new file (default: standard output)

One JSON object per line: all accounts, as they are at one moment; the last line has the number of
rows of each table and a checksum. One that was broken off is started again. Secrets stay encrypted: keep
the master key (master.key in the data folder, or TRUEWARD_MASTER_KEY) with the file, but not in
the same place.

Example: from the embedded database to a PostgreSQL server
  trueward-service export --out all.jsonl
  DATABASE_URL=postgres://… trueward-service import all.jsonl`,
  async run(args) {
    const { values } = readArguments(args, { out: { type: 'string' } });
    const rows = await withDatabase(async ({ database }) => {
      const target = values.out === undefined ? process.stdout : await create(values.out);
      const count = await exportRows(database, {
        id: randomUUID(),
        write: (line) => writeLine(target, line),
        onProgress: createProgress((done) => `${done} rows …`),
      });
      if (target !== process.stdout) await finished(target.end());
      return count;
    });
    say(`Exported ${rows} rows.`);
  },
};

/** Opens a file that must not exist yet: an export before is worth more than a retyped command. */
async function create(file: string): Promise<Writable> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  try {
    await once(stream, 'open');
    return stream;
  } catch (error) {
    throw new CommandError(`${file} cannot be made: ${String(error)}`);
  }
}

async function writeLine(target: Writable, line: string): Promise<void> {
  if (!target.write(`${line}\n`)) await once(target, 'drain');
}
