/**
 * `npm run bench:dispatch`: measures webhook delivery beside the job queues of others. See `--help`.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root, run } from './lib/run.mjs';

const folder = join(root, 'test', 'bench', 'dispatch');

try {
  await ensureInstall();
  if (!process.argv.includes('--help')) {
    await ensurePeers();
    const build = await run([process.execPath, 'scripts/build.mjs', '--stale'], { show: true });
    if (build.code !== 0) throw new Error('The build failed; its message is above.');
  }
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(folder, 'main.ts'));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** The other queues are no part of the project's own install: they are only needed here. */
async function ensurePeers() {
  const lock = join(folder, 'package-lock.json');
  const installed = join(folder, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log('Installing the job queues of others (some 30 MB) …');
  const command = ['npm', 'ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { code } = await run(command, { show: true });
  if (code !== 0) throw new Error(`\`npm ci\` in ${folder} failed; its message is above.`);
}
