/**
 * `npm run api-report` copies the API reports from the build. See `--help`. API Extractor can compare reports too, but only
 * during the build.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyFolder } from './lib/copy-folder.mjs';
import { builtReportsDir, committedReportsDir } from './lib/public-api.mjs';
import { readOptions } from './lib/read-options.mjs';

const { check } = readOptions({
  name: 'api-report',
  about:
    'Copies the API reports from the build to test/types/api, where reviewers see every change to the public API.',
  options: { check: 'writes nothing, and fails if the reports differ' },
});

if (!existsSync(builtReportsDir))
  throw new Error('The build has no API reports: run `npm run build` first.');

if (check) {
  const builtReports = readReports(builtReportsDir);
  const committedReports = readReports(committedReportsDir);
  const names = new Set([...Object.keys(builtReports), ...Object.keys(committedReports)]);
  const changedReports = [...names].filter((name) => builtReports[name] !== committedReports[name]);
  if (changedReports.length > 0) {
    console.error(
      `The public API differs from test/types/api: ${changedReports.join(', ')}. If this is intended, run ` +
        '`npm run build && npm run api-report`, commit the files, and add a changeset.',
    );
    process.exitCode = 1;
  }
} else {
  rmSync(committedReportsDir, { recursive: true, force: true });
  copyFolder(builtReportsDir, committedReportsDir);
}

/**
 * Returns the reports' text, keyed by file name.
 *
 * @param {string} folder
 * @returns {Record<string, string>}
 */
function readReports(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
