/**
 * `npm run bench:frames`: what the SDK costs a game's frames. Writes docs/benchmarks/frames.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root } from './lib/run.mjs';

const help = `npm run bench:frames [-- --peer <folder>]   some 3 minutes; timings are never a failure

  --peer <folder>  a checkout of github.com/poki/phaser-plugin, to measure it beside`;

const { values } = parseArgs({
  options: { peer: { type: 'string' }, help: { type: 'boolean', default: false } },
});

if (values.help) {
  console.log(help);
} else {
  if (values.peer !== undefined) process.env.TRUEWARD_BENCH_PEER = resolve(values.peer);
  await ensureInstall();
  const { ensureChromium } = await import('./lib/find-chromium.mjs');
  process.env.CHROMIUM_PATH = await ensureChromium();
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(root, 'test', 'bench', 'frames', 'main.ts'));
}
