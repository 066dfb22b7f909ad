import { access, constants, open } from 'node:fs/promises';
import { openSecretBox } from '../key/master-key.ts';
import { checkExport } from '../store/transfer/check-export.ts';
import { importRows } from '../store/transfer/import-rows.ts';
import { type Command, CommandError, readArguments, say } from './command.ts';
import { createProgress } from './progress.ts';
import { withDatabase } from './with-database.ts';

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
