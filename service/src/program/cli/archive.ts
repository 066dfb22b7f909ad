import { mkdir } from 'node:fs/promises';
import { eraseFromArchives } from '../../history/erase-from-archives.ts';
import { archiveWeek, ArchiveError } from '../../history/archive-week.ts';
import { readConfig } from '../config/config.ts';
import { listWeeks } from '../../store/partitions.ts';
import {
  type Command,
  CommandError,
  readArguments,
  printMessage,
  printResult,
  UsageError,
  createProgress,
} from './command.ts';
import { withDatabase } from './with-database.ts';

/**
 * How long a week's data can still change after the end of the week. Completions are accepted for seven days after a
 * decision. The eighth day is a safety margin.
 */
const settledAfterMs = 8 * 86_400_000;

export const archiveCommand: Command = {
  name: 'archive',
  summary: 'archive old decisions and events to files, one week at a time',
  help: `Usage: trueward-service archive [--before <date>] [--to <folder>]

  --before <date>  archive weeks that ended by this date, such as 2026-10-01 (default: eight days ago)
  --to <folder>    the target folder (default: ARCHIVE_DIR)

Writes one file of gzipped JSON lines per week and table, such as decisions_20260928.jsonl.gz, and a
manifest, decisions_20260928.json, with the row count, a checksum of the rows and the file's SHA-256. Each
file is read back and compared with the database. You can run the command again at any time, for example
every night or after an interruption: it writes missing or outdated files and verifies the others.

Also removes the players from all archives who have been erased since the last time. Run it at least every
30 days.

If ARCHIVE_DIR is set, weeks older than RETENTION_DAYS are dropped only if they have been archived.`,
  async run(args) {
    const { values } = readArguments(args, { before: { type: 'string' }, to: { type: 'string' } });
    const givenMs = readDate(values.before);
    const folder = values.to ?? readConfig(process.env).retention.archiveDirectory;
    if (folder === undefined)
      throw new UsageError('No target folder: pass --to or set ARCHIVE_DIR.');
    await withDatabase(
      async ({ database, clock }) => {
        const beforeMs = givenMs ?? clock.nowMs() - settledAfterMs;
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const allWeeks = await listWeeks(database, beforeMs);
        const weeks = allWeeks.filter(({ isArchived }) => isArchived);
        for (const [index, week] of weeks.entries()) {
          const onRows = createProgress((rows) => `${week.name}: ${rows} rows…`);
          const { manifest, written } = await archiveWeek(
            database,
            week,
            folder,
            clock,
            onRows,
          ).catch((error: unknown) => {
            throw error instanceof ArchiveError ? new CommandError(error.message) : error;
          });
          const { file, rows, bytes, sha256 } = manifest;
          printMessage(
            `${index + 1} of ${weeks.length}: ${file}, ${rows} rows${written ? '' : ', already archived'}`,
          );
          printResult({ file, rows, bytes, sha256, written });
        }
        for (const file of await eraseFromArchives(database, folder))
          printMessage(`${file}: erased players were removed`);
        if (weeks.length === 0) printMessage('No weeks to archive: none ended by that date.');
      },
      { power: 'export' },
    );
  },
};

/** @throws UsageError for an invalid date. */
function readDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms))
    throw new UsageError(
      `--before must be a date such as 2026-10-01; received ${JSON.stringify(text)}.`,
    );
  return ms;
}
