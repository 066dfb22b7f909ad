/**
 * `npm run bench:first-paint [-- ROUNDS]`: how long a player waits for the first frame of an ad.
 * Writes docs/benchmarks/first-paint.md.
 */
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root, run } from './lib/run.mjs';

if (process.argv.includes('--help')) {
  console.log('npm run bench:first-paint [-- ROUNDS]   20 rounds by default, a minute');
} else {
  await ensureInstall();
  const { ensureChromium } = await import('./lib/find-chromium.mjs');
  process.env.CHROMIUM_PATH = await ensureChromium();
  const { code } = await run([process.execPath, 'scripts/build.mjs', '--stale'], { show: true });
  if (code !== 0) throw new Error('The build failed; its message is above.');
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(root, 'test', 'bench', 'first-paint', 'main.ts'));
}
