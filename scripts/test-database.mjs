/** `npm run test:database -- --url …`: runs the tests of the service against a given database server. See `--help`. */
import { parseArgs } from 'node:util';

const help = `npm run test:database -- --url postgres://user@host:port/database [-- test files]

Tries the service's statements in that database, then runs the tests of the service over HTTP and
of rewards with random players, each test file in a new database of that server, which stays there.
The role must be allowed to create databases. If the database has the extension Citus, the new ones
are created on all of its nodes. Without --url, nothing is run.`;

const { values, positionals } = parseArgs({
  options: { url: { type: 'string' }, help: { type: 'boolean', default: false } },
  allowPositionals: true,
});

/** What a service does over HTTP, in one process each. */
const files = [
  ...['access', 'authority', 'daily-caps', 'event-batches', 'isolation', 'keys', 'live-processes'],
  ...[
    'migrations',
    'panel-',
    'partitions',
    'processes',
    'reports',
    'resources',
    'reward',
    'roll-ups',
  ],
  ...['snapshot-property', 'timelines', 'transfer', 'unused-uploads', 'upkeep', 'webhook'],
].map((name) => `test/http/${name}`);

if (values.help) {
  console.log(help);
} else if (values.url === undefined) {
  console.log('Skipped: pass --url with a PostgreSQL server or a Citus coordinator.');
} else {
  const { run, tool } = await import('./lib/run.mjs');
  const env = { DATABASE_URL: values.url };
  const probe = await run([...tool('tsx'), 'service/test/probe/main.ts'], { env, show: true });
  const chosen = positionals.length > 0 ? positionals : [...files, 'test/property/rewards'];
  const tests = await run(
    [...tool('vitest'), 'run', '--project', 'service', '--project', 'property', ...chosen],
    { env: { TRUEWARD_TEST_SERVER: values.url, TRUEWARD_SEQUENCES: '50' }, show: true },
  );
  process.exitCode = probe.code || tests.code;
}
