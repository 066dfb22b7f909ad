/**
 * `npm run property:rewards` simulates many random players against the real service, on both databases. Some of them
 * cheat, and the runs include injected faults and clock jumps. See `--help`.
 */
import { parseArgs } from 'node:util';
import { ensureInstall } from './lib/ensure-install.mjs';

const help = `npm run property:rewards -- [--sequences 10000] [--seed N [--shrink]]

  --sequences N   players per database, 50 at a time; 10,000 take about 30 minutes
  --seed N        runs only the batch that failed with this seed
  --shrink        shrinks the failing batch (slow)

Environment: DATABASE_URL is the URL of the PostgreSQL server to use. By default, the tests start
a server if PostgreSQL is installed.`;

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '10000' },
    seed: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(help);
} else {
  await ensureInstall();
  const { run, tool } = await import('./lib/run.mjs');
  const { code } = await run([...tool('vitest'), 'run', '--project', 'property'], {
    env: {
      TRUEWARD_SEQUENCES: values.sequences,
      ...(values.seed === undefined ? {} : { TRUEWARD_SEED: values.seed }),
      ...(values.shrink ? { TRUEWARD_SHRINK: '1' } : {}),
    },
    show: true,
  });
  process.exitCode = code;
}
