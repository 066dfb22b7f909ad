/** `npm run property:rewards` simulates many random players against the real service. See `--help`. */
import { ensureInstall } from './lib/ensure-install.mjs';
import { run, tool } from './lib/run.mjs';

await ensureInstall();
// Imported dynamically, because it needs installed packages.
const { readOptions } = await import('./lib/read-options.mjs');
const { sequences, seed, shrink } = readOptions({
  name: 'property:rewards',
  about: `Simulates many random players against the real service, on both databases. Some of them cheat, and the runs include
injected faults and clock jumps. 10,000 players per database take about 30 minutes.

Environment: DATABASE_URL is the URL of the PostgreSQL server to use. By default, the tests start
a server if PostgreSQL is installed.`,
  options: {
    sequences: { type: 'whole', default: 10_000, help: 'players per database, 50 at a time' },
    seed: {
      type: 'whole',
      least: -(2 ** 31),
      help: 'runs only the batch that failed with this seed',
    },
    shrink: 'shrinks the failing batch (slow); requires --seed',
  },
  check: (values) =>
    values.shrink && values.seed === undefined
      ? '--shrink: got no --seed, expected the seed of the batch that failed.'
      : undefined,
});

const { code } = await run([...tool('vitest'), 'run', '--project', 'property'], {
  env: {
    TRUEWARD_SEQUENCES: String(sequences),
    ...(seed === undefined ? {} : { TRUEWARD_SEED: String(seed) }),
    ...(shrink ? { TRUEWARD_SHRINK: '1' } : {}),
  },
  show: true,
});
process.exitCode = code;
