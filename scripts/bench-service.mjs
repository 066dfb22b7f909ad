/**
 * `npm run bench:service`: what a decision that is stored costs beside a bare echo. Writes
 * docs/benchmarks/service.
 */
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root, run } from './lib/run.mjs';

if (process.argv.includes('--help')) {
  console.log(`npm run bench:service [-- --rounds <n> --seconds <n>]

Some 3 minutes with 5 rounds of 4 seconds, the defaults. Needs Linux, which tells what
processor time a process has had, and PostgreSQL for the half that runs on it.`);
} else {
  await ensureInstall();
  const build = await run([process.execPath, 'scripts/build.mjs', '--stale'], { show: true });
  if (build.code !== 0) process.exit(1);
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(root, 'test', 'bench', 'service', 'main.ts'));
}
