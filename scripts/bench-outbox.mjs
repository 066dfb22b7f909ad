/**
 * `npm run bench:outbox`: measures the outbox beside the event queues of others. See `--help`.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root, run } from './lib/run.mjs';

const folder = join(root, 'test', 'bench', 'outbox');

try {
  await ensureInstall();
  await ensurePeers();
  // Imported now, because they need installed packages.
  const { ensureChromium } = await import('./lib/find-chromium.mjs');
  process.env.CHROMIUM_PATH = await ensureChromium();
  const { register } = await import('tsx/esm/api');
  register();
  await import(join(folder, 'main.ts'));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** The other queues are no part of the project's own install: they are large, and only needed here. */
async function ensurePeers() {
  const lock = join(folder, 'package-lock.json');
  const installed = join(folder, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log('Installing the queues of others (some 160 MB) …');
  const command = ['npm', 'ci', '--prefix', folder, '--omit=optional', '--ignore-scripts'];
  const { code } = await run([...command, '--no-audit', '--no-fund'], { show: true });
  if (code !== 0) throw new Error(`\`npm ci\` in ${folder} failed; its message is above.`);
}
