import { createWriteStream } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { access, constants, open } from 'node:fs/promises';
import { readCitusRole } from '../../store/citus.ts';
import { exportRows, checkExport } from '../../store/transfer/export-file.ts';
import {
  type Command,
  CommandError,
  readArguments,
  printMessage,
  createProgress,
} from './command.ts';
import { withDatabase } from './with-database.ts';
import { openSecretBox } from '../../access/secret-box.ts';
import { importRows } from '../../store/transfer/import-rows.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'export the whole database to a file',
  help: `Usage: trueward-service export [--out <file>]

  --out <file>  a new file (default: standard output)

Writes all accounts' data, one JSON object per line. The last line has each table's row count and checksum.
If an export is interrupted, start it again. Secrets stay encrypted, so back up the master key too (master.key in
the data folder, or TRUEWARD_MASTER_KEY), but in a different place.

The service can keep running, because the export is a consistent snapshot. On a Citus cluster, stop the
service first: a snapshot cannot span nodes, so rows written during the export may be missing.

Example: from the embedded database to a PostgreSQL server
  trueward-service export --out all.jsonl
  DATABASE_URL=postgres://… trueward-service import all.jsonl`,
  async run(args) {
    const { values } = readArguments(args, { out: { type: 'string' } });
    const rows = await withDatabase(async ({ database }) => {
      if ((await readCitusRole(database)) !== undefined)
        printMessage(
          'This is a Citus cluster, where a snapshot cannot span nodes. If the service is running, stop it and export again.',
        );
      const target = values.out === undefined ? process.stdout : await createNewFile(values.out);
      const count = await exportRows(database, {
        id: randomUUID(),
        write: (line) => writeLine(target, line),
        onProgress: createProgress((done) => `${done} rows…`),
      });
      if (target !== process.stdout) await finished(target.end());
      return count;
    });
    printMessage(`Exported ${rows} rows.`);
  },
};

/** Creates a file. Fails if the file exists, so that an earlier export is never overwritten. */
async function createNewFile(file: string): Promise<Writable> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  try {
    await once(stream, 'open');
    return stream;
  } catch (error) {
    throw new CommandError(`Cannot create ${file}: ${String(error)}`);
  }
}

async function writeLine(target: Writable, line: string): Promise<void> {
  if (!target.write(`${line}\n`)) await once(target, 'drain');
}

export const importCommand: Command = {
  name: 'import',
  summary: 'import an exported file into an empty database',
  help: `Usage: trueward-service import <file>

Verifies the whole file before it writes anything, imports it in batches, and finally compares each
table's row count and checksum. If the import is interrupted, run it again with the same file. It
resumes where it stopped. The service does not start with this database until the import is complete.

The exporting service's master key must be in place, as master.key in the data folder or as
TRUEWARD_MASTER_KEY.`,
  async run(args) {
    const { positionals } = readArguments(args, {}, ['file']);
    const [path = ''] = positionals;
    await requireReadable(path);
    const rows = await withDatabase(async ({ database, config }) => {
      const onRows = createProgress((done) => `${done} rows read…`);
      const file = await checkExport(readLines(path), onRows);
      // Throws if this master key can't decrypt the file's secrets, because the service would then fail to start after
      // the import.
      if (file.sealed !== undefined) openSecretBox(config).open(file.sealed);
      // Progress is printed after every batch, because a batch can take up to a second.
      const onBatch = (done: number) => printMessage(`${done} of ${file.rows} rows imported…`);
      await importRows(database, file, readLines(path), onBatch);
      return file.rows;
    });
    printMessage(`Imported ${rows} rows.`);
  },
};

/** Called before the database is opened, so that a wrong path does not create a new database. */
async function requireReadable(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'the file does not exist' : error.message;
    throw new CommandError(
      `Cannot read ${path}: ${reason}. Pass a file written by trueward-service export.`,
    );
  });
}

/** Opens the file lazily, because lines that are read before the iteration starts would be lost. */
async function* readLines(file: string): AsyncGenerator<string> {
  const handle = await open(file);
  yield* handle.readLines();
}
