/**
 * `npm run test:timing` shows the slowest test files in the last run and where their time went. See `--help`.
 */
import { readOptions } from './lib/read-options.mjs';
import { formatDuration } from './lib/run.mjs';
import { readTestReport } from './lib/test-report.mjs';

const values = readOptions({
  name: 'test:timing',
  about: `Prints the slowest files in the last run of \`npm test\` or \`npm run test:full\`, slowest first.
That run may have been partial. All times are in seconds:

  total    import, hooks and tests together
  cpu      CPU time used by the file's process and by its child processes that
           have exited; unknown for tests in a browser, incomplete for Chromium
  wait     total minus cpu: waiting for timers, responses, other processes or a
           free core
  import   loading the file and everything that it imports; unknown for tests
           in a browser
  hooks    beforeAll and afterAll
  tests    the tests, with beforeEach and afterEach
  slowest  the slowest test and its time`,
  options: {
    count: { type: 'whole', default: 25, help: 'number of files to print' },
    project: {
      type: 'name',
      names: ['unit', 'service', 'property', 'package', 'e2e', 'browser'],
      help: 'only files of this Vitest project',
    },
  },
});
const report = readTestReport();
if (report === undefined) {
  console.error('There is no report from a finished test run. Run `npm test` first.');
  process.exitCode = 1;
} else print(report);

/** @param {import('./lib/test-report.mjs').TestReport} report */
function print({ startedAt, ms, files: allFiles }) {
  const files = allFiles
    .filter(({ project }) => values.project === undefined || project.startsWith(values.project))
    .map((file) => ({
      ...file,
      totalMs: (file.importMs ?? 0) + file.hooksMs + file.testDurationMs,
    }))
    .toSorted((a, b) => b.totalMs - a.totalMs);
  const shownFiles = files.slice(0, values.count);
  const header = ['total', 'cpu', 'wait', 'import', 'hooks', 'tests', 'file', 'slowest'];
  printTable([
    header,
    ...shownFiles.map(
      ({ totalMs, cpuMs, importMs, hooksMs, testDurationMs, file, project, slowest }) => [
        formatSeconds(totalMs),
        formatSeconds(cpuMs),
        formatSeconds(cpuMs === undefined ? undefined : Math.max(0, totalMs - cpuMs)),
        formatSeconds(importMs),
        formatSeconds(hooksMs),
        formatSeconds(testDurationMs),
        `${project}: ${file}`,
        slowest === undefined ? '' : `${formatSeconds(slowest.ms)} ${slowest.name}`,
      ],
    ),
  ]);
  const sum = files.reduce((total, { totalMs }) => total + totalMs, 0);
  console.log(
    `\n${shownFiles.length} of ${files.length} files. All files together took ${formatDuration(sum)}. The run at ${startedAt} took ${formatDuration(ms)}.`,
  );
}

/** @param {number | undefined} ms */
function formatSeconds(ms) {
  return ms === undefined ? '-' : (ms / 1000).toFixed(1);
}

/**
 * Right-aligns the numbers, left-aligns the text.
 *
 * @param {string[][]} rows
 */
function printTable(rows) {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column < 6 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(cells.join('  ').trimEnd());
  }
}
