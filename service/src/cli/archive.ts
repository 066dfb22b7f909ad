import { mkdir } from 'node:fs/promises';
import { archiveWeek, ArchiveError } from '../store/archive/archive-week.ts';
import { readConfig } from '../config/config.ts';
import { systemClock } from '../platform/clock.ts';
import { listWeeks } from '../store/partitions.ts';
import {
  type Command,
  CommandError,
  readArguments,
  say,
  tell,
  UsageError,
  createProgress,
} from './command.ts';
import { withDatabase } from './with-database.ts';

/** Completions are taken for seven days after a decision; then a week does not change any more. */
const settledAfterMs = 8 * 86_400_000;

export const archiveCommand: Command = {
  name: 'archive',
  summary: 'write old weeks of decisions and events to files',
  help: `Usage: trueward-service archive [--before <date>] [--to <folder>]

  --before <date>  weeks that ended by then, such as 2026-10-01 (default: eight days ago)
  --to <folder>    where to (default: ARCHIVE_DIR)

For each week and table a file of gzipped JSON lines, decisions_20260928.jsonl.gz, and beside it what
it holds, decisions_20260928.json: rows, a checksum of the rows, the SHA-256 of the file. Each file is
read back and compared with the database. Run it again, after an end or every night: it writes what is
missing or has changed, and checks the rest.

With ARCHIVE_DIR, RETENTION_DAYS drops only weeks that are archived.`,
  async run(args) {
    const { values } = readArguments(args, { before: { type: 'string' }, to: { type: 'string' } });
    const beforeMs = readDate(values.before) ?? systemClock.nowMs() - settledAfterMs;
    const folder = values.to ?? readConfig(process.env).keep.archiveDirectory;
    if (folder === undefined) throw new UsageError('Say where to: --to, or ARCHIVE_DIR.');
    await withDatabase(async ({ database }) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const weeks = await listWeeks(database, beforeMs);
      for (const [index, week] of weeks.entries()) {
        const onRows = createProgress((rows) => `${week.name}: ${rows} rows …`);
        const { manifest, written } = await archiveWeek(database, week, folder, onRows).catch(
          (error: unknown) => {
            throw error instanceof ArchiveError ? new CommandError(error.message) : error;
          },
        );
        const { file, rows, bytes, sha256 } = manifest;
        say(
          `${index + 1} of ${weeks.length}: ${file}, ${rows} rows${written ? '' : ', was there'}`,
        );
        tell({ file, rows, bytes, sha256, written });
      }
      if (weeks.length === 0) say('There is no week that ended by then.');
    });
  },
};

/** @throws UsageError when it is no date. */
function readDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms))
    throw new UsageError(
      `--before has to be a date such as 2026-10-01; got ${JSON.stringify(text)}.`,
    );
  return ms;
}
