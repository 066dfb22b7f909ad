/**
 * `npm start`: runs the service, the game server and the demo game on this machine. See `--help`.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { buildStale } from './lib/run.mjs';
import { acquireStartLock } from './lib/start-lock.mjs';

const help = `npm start

Installs missing packages, builds outdated parts, starts the ad service (with an embedded
database and demo keys for sandbox and live), the demo game and its game server, and prints
their URLs.
Ctrl-C stops everything.

Environment:
  TRUEWARD_DATA_DIR   directory for all data (default .trueward), kept for the
                      next start. While everything runs, dev.json in it has the URLs
                      and keys.
  TRUEWARD_NO_OPEN=1  does not open a browser.

Ports: those of the last start, or else 8787 (service) and 8788 (game); if in use, free ports.`;

if (process.argv.includes('--help')) {
  console.log(help);
  process.exit();
}

const dataDirectory = resolve(process.env.TRUEWARD_DATA_DIR || '.trueward');
/** @type {{ release(): void } | undefined} */
let lock;
/** @type {Promise<number> | undefined} */
let stopped;
const building = new AbortController();
let stopEverything = async () => {};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop());
stopWithNpm();

try {
  mkdirSync(dataDirectory, { recursive: true });
  const acquired = (lock = acquireStartLock(dataDirectory));
  await ensureInstall();
  await buildStale({ signal: building.signal });
  // Imported dynamically, because it needs installed packages.
  const { startEverything } = await import('./lib/start-everything.mjs');
  const processes = startEverything(
    dataDirectory,
    acquired.addChild,
    (reason) => void stop(reason),
  );
  stopEverything = processes.stop;
  await processes.ready;
} catch (error) {
  await stop(error instanceof Error ? error.message : String(error));
}

/** Stops everything when npm stops: npm sends SIGTERM to its shell, which exits without forwarding the signal. */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void stop();
  }, 250).unref();
}

/**
 * Stops everything once and exits, with exit code 1 if there was a failure.
 *
 * @param {string} [failure]
 */
function stop(failure) {
  stopped ??= (async () => {
    building.abort();
    if (failure !== undefined) console.error(`\n${failure}`);
    await stopEverything();
    lock?.release();
    return failure === undefined ? 0 : 1;
  })().then((code) => process.exit(code));
  return stopped;
}
