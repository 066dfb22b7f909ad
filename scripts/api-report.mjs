/**
 * `npm run api-report` copies the API reports from the build to `test/types/api`, so that reviewers see every change of
 * the public API; with `--check`, fails if they differ. API Extractor itself compares reports only while it generates
 * them, which the build does.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { builtReports, committedReports } from './lib/public-api.mjs';

if (!existsSync(builtReports))
  throw new Error('The build has no API reports: run `npm run build` first.');

if (process.argv.includes('--check')) {
  const built = reportsIn(builtReports);
  const committed = reportsIn(committedReports);
  const names = new Set([...Object.keys(built), ...Object.keys(committed)]);
  const changed = [...names].filter((name) => built[name] !== committed[name]);
  if (changed.length > 0) {
    console.error(
      `The public API differs from test/types/api: ${changed.join(', ')}. If this is intended, run ` +
        '`npm run build && npm run api-report`, commit the files, and add a changeset.',
    );
    process.exitCode = 1;
  }
} else {
  rmSync(committedReports, { recursive: true, force: true });
  cpSync(builtReports, committedReports, { recursive: true });
}

/**
 * Returns the texts of the reports by file name.
 *
 * @param {string} folder
 * @returns {Record<string, string>}
 */
function reportsIn(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
