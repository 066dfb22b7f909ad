import { open } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { readMasterKey } from '../key/master-key.ts';
import { createSecretBox } from '../key/secret-box.ts';
import type { Queries } from '../store/database.ts';
import { checkExport } from '../store/transfer/check-export.ts';
import { TransferError } from '../store/transfer/format.ts';
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
    const rows = await withDatabase(async ({ database, config }) => {
      const checked = createProgress((done) => `${done} rows read …`);
      const file = await checkExport(readLines(path), checked);
      if (file.sealed !== undefined) tryMasterKey(file.sealed, config);
      // A part is a second's work or less: each is told.
      const taken = (done: number) => say(`${done} of ${file.rows} rows taken in …`);
      await importRows(database, file, readLines(path), taken);
      return file.rows;
    }).catch((error: unknown) => {
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (error instanceof TransferError || missing)
        throw new CommandError((error as Error).message);
      throw error;
    });
    say(`Imported ${rows} rows.`);
  },
};

/** Opens the file when its first line is asked for: lines that nobody waits for yet would be lost. */
async function* readLines(file: string): AsyncGenerator<string> {
  const handle = await open(file);
  yield* handle.readLines();
}

/** With another key the service could not start, and would tell so in worse words. */
export async function checkMasterKey(queries: Queries, config: Config): Promise<void> {
  const [secret] = await queries.query<{ sealed: string }>('SELECT sealed FROM secrets LIMIT 1');
  if (secret) tryMasterKey(secret.sealed, config);
}

function tryMasterKey(sealed: string, config: Config): void {
  try {
    createSecretBox(readMasterKey(config)).open(sealed);
  } catch {
    throw new CommandError(
      'The master key does not open the secrets in the database: put the master.key that they were made with into the data folder, or set TRUEWARD_MASTER_KEY.',
    );
  }
}
