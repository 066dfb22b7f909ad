import { createWriteStream } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { access, constants, open } from 'node:fs/promises';
import { exportRows } from '../store/transfer/export-rows.ts';
import { type Command, CommandError, readArguments, say, createProgress } from './command.ts';
import { withDatabase } from './with-database.ts';
import { openSecretBox } from '../key/secret-box.ts';
import { checkExport } from '../store/transfer/check-export.ts';
import { importRows } from '../store/transfer/import-rows.ts';

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

export const importCommand: Command = {
  name: 'import',
  summary: 'take in what export wrote, into an empty database',
  help: `Usage: trueward-service import <file>

Reads the file to its end before it writes anything, then takes it in a part at a time, and at last
compares the rows and the checksum of each table. If it is broken off, run it again with the same
file: it goes on where it was. No service starts on the database before it is done.

The master key of the exporting service has to be here already, as master.key in the data folder or
as TRUEWARD_MASTER_KEY.`,
  async run(args) {
    const { positionals } = readArguments(args, {}, ['file']);
    const [path = ''] = positionals;
    await refuseUnreadable(path);
    const rows = await withDatabase(async ({ database, config }) => {
      const checked = createProgress((done) => `${done} rows read …`);
      const file = await checkExport(readLines(path), checked);
      // With another key the service could not start on what was imported.
      if (file.sealed !== undefined) openSecretBox(config).open(file.sealed);
      // A part is a second's work or less: each is told.
      const taken = (done: number) => say(`${done} of ${file.rows} rows taken in …`);
      await importRows(database, file, readLines(path), taken);
      return file.rows;
    });
    say(`Imported ${rows} rows.`);
  },
};

/** Checked first, so that a wrong path does not create a database. */
async function refuseUnreadable(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such file' : error.message;
    throw new CommandError(
      `Cannot read ${path}: ${reason}. Name the file that trueward-service export wrote.`,
    );
  });
}

/** Opens the file when its first line is asked for: lines that nobody waits for yet would be lost. */
async function* readLines(file: string): AsyncGenerator<string> {
  const handle = await open(file);
  yield* handle.readLines();
}
