/**
 * `npm run bench:scale`: the service with several processes and many rows on PostgreSQL. Writes
 * docs/benchmarks/service/scale.md.
 */
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root, run } from './lib/run.mjs';

if (process.argv.includes('--help')) {
  console.log(`npm run bench:scale [-- --only decisions|events|growth|dispatch --seconds <n> --rows <n>]

Some 5 minutes with windows of 3 seconds and a million rows, the defaults. --only may be given
several times. Needs Linux, which tells what processor time a process has had, and PostgreSQL.`);
} else {
  await ensureInstall();
  const build = await run([process.execPath, 'scripts/build.mjs', '--stale'], { show: true });
  if (build.code !== 0) process.exit(1);
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(root, 'test', 'bench', 'scale', 'main.ts'));
}
