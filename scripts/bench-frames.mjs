/**
 * `npm run bench:frames`: what the SDK costs a game's frames. Writes docs/benchmarks/frames.
 */
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root } from './lib/run.mjs';

if (process.argv.includes('--help')) {
  console.log('npm run bench:frames   some 5 minutes; timings are never a failure');
} else {
  await ensureInstall();
  const { ensureChromium } = await import('./lib/find-chromium.mjs');
  process.env.CHROMIUM_PATH = await ensureChromium();
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(root, 'test', 'bench', 'frames', 'main.ts'));
}
