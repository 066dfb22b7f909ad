/**
 * `npm start`: everything that one needs to see a reward arrive, on this machine. See `--help`.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { run } from './lib/run.mjs';
import { startEverything } from './lib/start-everything.mjs';
import { takeStartLock } from './lib/start-lock.mjs';

const help = `npm start

Installs and builds what is missing, then starts the ad service (embedded database,
sandbox and live demo keys), the demo game and its game server, and prints where they
are. Ctrl-C ends all of it.

Environment:
  TRUEWARD_DATA_DIR   folder of all data (default .trueward); a second start goes on
                      with them. While everything answers, dev.json in it has the
                      addresses and the keys.
  TRUEWARD_NO_OPEN=1  opens no browser.

Ports: 8787 (service) and 8788 (game), or those of the last start; taken ones are replaced.`;

if (process.argv.includes('--help')) {
  console.log(help);
  process.exit();
}

const dataDirectory = resolve(process.env.TRUEWARD_DATA_DIR || '.trueward');
/** @type {{ release(): void } | undefined} */
let lock;
/** @type {Promise<number> | undefined} */
let ending;
const stopping = new AbortController();
let stopEverything = async () => {};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end());
endWithNpm();

try {
  mkdirSync(dataDirectory, { recursive: true });
  const taken = (lock = takeStartLock(dataDirectory));
  await ensureInstall();
  const build = await run([process.execPath, 'scripts/build.mjs', '--stale'], {
    show: true,
    signal: stopping.signal,
  });
  if (build.code !== 0) throw new Error('The build failed; its message is above.');
  const everything = startEverything(dataDirectory, taken.addChild, (reason) => void end(reason));
  stopEverything = everything.stop;
  await everything.ready;
} catch (error) {
  await end(error instanceof Error ? error.message : String(error));
}

/** npm passes SIGTERM to its shell, and the shell passes it to nobody: it just leaves its children. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end();
  }, 250).unref();
}

/**
 * Ends what was started, once; with a reason it was a failure.
 *
 * @param {string} [failure]
 */
function end(failure) {
  ending ??= (async () => {
    stopping.abort();
    if (failure !== undefined) console.error(`\n${failure}`);
    await stopEverything();
    lock?.release();
    return failure === undefined ? 0 : 1;
  })().then((code) => process.exit(code));
  return ending;
}
