/** `npm run test:database -- --url …` runs the service's tests on the specified database server. See `--help`. */
import { randomBytes } from 'node:crypto';
import { readOptions } from './lib/read-options.mjs';

const values = readOptions({
  name: 'test:database',
  about: `Checks that the database supports the service's SQL, then runs the service's HTTP tests and the tests
with random players. Each test file uses a new database on that server. These databases are not
deleted. The last line is \`N passed, N failed\`.
The role must be allowed to create databases. If the database has the Citus extension, the new
databases are created on all nodes. Without --url, no tests are run.`,
  options: {
    files: {
      type: 'text',
      argument: true,
      several: true,
      shown: 'test file',
      help: 'only these files of the service’s tests',
    },
    url: {
      type: 'text',
      shown: 'postgres://user@host:port/database',
      help: 'the server, or a Citus cluster’s coordinator',
    },
    'kill-worker':
      'at the end, kills (SIGKILL) one of the cluster’s workers under load and restarts it. Accounts on other workers ' +
      'must not be affected, and no acknowledged decision may be lost. All nodes must run on this machine, and you need ' +
      'permission to kill them',
  },
  check: ({ url }) =>
    url === undefined || /^postgres(ql)?:\/\//.test(url)
      ? undefined
      : `--url: got ${JSON.stringify(url)}, expected postgres://user@host:port/database.`,
});

/**
 * The HTTP tests. The store tests are excluded, because a Citus cluster rejects some of their statements, such as
 * `CREATE TRIGGER`.
 */
const files =
  `access authority creative- daily-caps delivery-leases event-batches fuzz keys limits media operations
  origin-claims external-decisions panel- policy processes reports request-bodies request-headers resources responses reward
  root snapshot-property test-source tracker-kills trackers traces unused-uploads upkeep wallet webhook`
    .split(/\s+/)
    .map((name) => `test/http/${name}`);

/** @typedef {{ passed: number, failed: number, skipped: number }} Tally */

if (values.url === undefined) {
  console.log('Skipped: set --url to the URL of a PostgreSQL server or a Citus coordinator.');
} else {
  const server = { TRUEWARD_TEST_SERVER: values.url };
  const selectedFiles = values.files.length > 0 ? values.files : files;
  // The processes that simulate random players share one database, so they need the same master key.
  const players = {
    DATABASE_URL: values.url,
    TRUEWARD_MASTER_KEY: randomBytes(32).toString('base64'),
    TRUEWARD_SEQUENCES: '50',
  };
  report([
    await runChecks(['service/test/probe/main.ts'], { DATABASE_URL: values.url }),
    await runVitest(['--project', 'service', ...selectedFiles], server),
    await runVitest(['--project', 'property', 'rewards', '-t', 'on PostgreSQL'], players),
    ...(values['kill-worker']
      ? [await runChecks(['test/bench/database/check-dead-worker.ts', values.url])]
      : []),
  ]);
}

/**
 * Runs a script that prints a line starting with `ok` or `FAILED` for each check.
 *
 * @param {string[]} command
 * @param {Record<string, string>} [env]
 * @returns {Promise<Tally>}
 */
async function runChecks(command, env = {}) {
  const { run, tool } = await import('./lib/run.mjs');
  const { code, output } = await run([...tool('tsx'), ...command], { env });
  console.log(output);
  const failed = output.match(/^FAILED/gm)?.length ?? 0;
  const passed = output.match(/^ok/gm)?.length ?? 0;
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed, skipped: 0 };
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<Tally>}
 */
async function runVitest(args, env) {
  const { run, tool } = await import('./lib/run.mjs');
  const { deleteTestReport, readTestReport } = await import('./lib/test-report.mjs');
  deleteTestReport();
  const reporters = ['--reporter=default', '--reporter=./scripts/lib/test-report.mjs'];
  const { code } = await run(
    [...tool('vitest'), 'run', '--no-file-parallelism', ...reporters, ...args],
    { env, show: true },
  );
  const tally = readTestReport()?.tally ?? { passed: 0, failed: 0, skipped: 0 };
  // Something outside the tests failed, or no tests were found.
  return tally.failed === 0 && (code !== 0 || tally.passed === 0) ? { ...tally, failed: 1 } : tally;
}

/** @param {Tally[]} tallies */
function report(tallies) {
  const sum = (/** @type {keyof Tally} */ key) =>
    tallies.reduce((total, tally) => total + tally[key], 0);
  const skipped = sum('skipped');
  const suffix = skipped > 0 ? `, ${skipped} skipped` : '';
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed${suffix}`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}
