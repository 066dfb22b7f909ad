/** `npm run test:database -- --url …`: runs the service tests against the specified database server. See `--help`. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

const help = `npm run test:database -- --url postgres://user@host:port/database [-- test files]

Tries the service's statements in that database, then runs the tests of the service over HTTP, and
with random players. Each test file gets a new database of that server, which stays there.
The role must be allowed to create databases. If the database has the extension Citus, the new ones
are created on all of its nodes. Without --url, nothing is run.`;

const { values, positionals } = parseArgs({
  options: { url: { type: 'string' }, help: { type: 'boolean', default: false } },
  allowPositionals: true,
});

/** Tests over HTTP. Store tests use their own statements, such as triggers, which a cluster rejects. */
const files =
  'access authority event-batches keys panel- processes reports resources reward snapshot-property unused-uploads webhook'
    .split(' ')
    .map((name) => `test/http/${name}`);

if (values.help) {
  console.log(help);
} else if (values.url === undefined) {
  console.log('Skipped: pass --url with a PostgreSQL server or a Citus coordinator.');
} else {
  const { run, tool } = await import('./lib/run.mjs');
  const env = { DATABASE_URL: values.url };
  const vitest = [...tool('vitest'), 'run', '--no-file-parallelism'];
  const probe = await run([...tool('tsx'), 'service/test/probe/main.ts'], { env, show: true });
  const chosen = positionals.length > 0 ? positionals : files;
  const tests = await run([...vitest, '--project', 'service', ...chosen], {
    env: { TRUEWARD_TEST_SERVER: values.url },
    show: true,
  });
  const players = await run(
    [...vitest, '--project', 'property', 'rewards', '-t', 'on PostgreSQL'],
    {
      // The test's processes share one database, so they need the same master key.
      env: {
        ...env,
        TRUEWARD_MASTER_KEY: randomBytes(32).toString('base64'),
        TRUEWARD_SEQUENCES: '50',
      },
      show: true,
    },
  );
  process.exitCode = probe.code || tests.code || players.code;
}
