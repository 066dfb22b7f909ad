/**
 * `npm start` runs the service, the game server and the demo game on this machine. See `--help`.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { buildStale } from './lib/run.mjs';
import { isPidInUse } from './lib/process-identity.mjs';
import { acquireStartLock } from './lib/start-lock.mjs';

const dataDirectory = resolve(process.env.TRUEWARD_DATA_DIR || '.trueward');
/** @type {{ release(): void } | undefined} */
let lock;
/** @type {Promise<number> | undefined} */
let stopPromise;
const isWindows = process.platform === 'win32';
const buildController = new AbortController();
let stopEverything = async () => {};

// On Windows, SIGBREAK is Ctrl-Break, and SIGHUP the closed console window.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', ...(isWindows ? ['SIGBREAK'] : [])])
  process.on(signal, () => void stop());
stopWithNpm();

try {
  if (process.argv.length > 2) await readArguments();
  const startLock = (lock = openDataDirectory());
  await ensureInstall();
  await buildStale({ signal: buildController.signal });
  // Imported dynamically, because it needs installed packages.
  const { startEverything } = await import('./lib/start-everything.mjs');
  const processes = startEverything(
    dataDirectory,
    startLock.addChild,
    (reason) => void stop(reason),
  );
  stopEverything = processes.stop;
  await processes.ready;
} catch (error) {
  await stop(error instanceof Error ? error.message : String(error));
}

/** Shows the help, or ends because of an argument: there are no options. */
async function readArguments() {
  await ensureInstall();
  // Imported dynamically, because it needs installed packages.
  const { readOptions } = await import('./lib/read-options.mjs');
  readOptions({
    name: 'start',
    about: `Installs missing packages and builds outdated parts. Starts the ad service (with an embedded
database and demo keys for sandbox and live), the demo game and its game server, and prints
their URLs.
Ctrl-C stops everything.

Environment:
  TRUEWARD_DATA_DIR            directory for all data, which is kept for the
                               next start; default: .trueward. While everything
                               is running, dev.json in it has the URLs and keys.
  TRUEWARD_NO_OPEN=1           does not open a browser.
  TRUEWARD_START_TIMEOUT_S     how long a part may take to start, in seconds;
                               default: 120.
  TRUEWARD_SERVICE_PORT, TRUEWARD_GAME_PORT
                               the ports of the service and of the demo game.

Ports: without these settings, the first start uses 8787 (service) and 8788 (game), and later
starts reuse the same ports. If a port is in use, a free port is used instead. A port that you
have chosen is used or the start fails.`,
  });
}

/**
 * Makes the data folder if it is missing, and locks it.
 *
 * @throws Error that says what to do.
 */
function openDataDirectory() {
  try {
    mkdirSync(dataDirectory, { recursive: true });
    return acquireStartLock(dataDirectory);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw new Error(
      `The data folder ${dataDirectory} can't be used: ${error.message}. Set TRUEWARD_DATA_DIR to a folder on a local ` +
        'disk that you may write to.',
    );
  }
}

/**
 * Stops everything when npm stops. Polls, because no signal reaches this process: npm sends SIGTERM only to the shell
 * that it started, which does not forward it.
 */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  // On Windows, a process keeps the id of its parent after the parent has exited.
  const isOrphan = () => (isWindows ? !isPidInUse(parent) : process.ppid !== parent);
  setInterval(() => {
    if (isOrphan()) void stop();
  }, 250).unref();
}

/**
 * Stops everything and exits, with exit code 1 if there was a failure. Later calls have no effect.
 *
 * @param {string} [failure]
 */
function stop(failure) {
  stopPromise ??= (async () => {
    buildController.abort();
    if (failure !== undefined) console.error(`\n${failure}`);
    await stopEverything();
    lock?.release();
    return failure === undefined ? 0 : 1;
  })().then((code) => process.exit(code));
  return stopPromise;
}
