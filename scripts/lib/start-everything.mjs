import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { choosePorts } from './choose-ports.mjs';
import { replaceFile } from './replace-file.mjs';
import { startProcess } from './start-process.mjs';

const createUrl = (/** @type {number} */ port) => `http://127.0.0.1:${port}`;

/**
 * Starts the service and the game server, which also serves the demo game.
 *
 * @param {string} dataDirectory
 * @param {(pid: number) => void} onChild Called for each started process.
 * @param {(reason: string) => void} onExit Called when a process exits on its own.
 * @returns {{ ready: Promise<void>, stop(): Promise<void> }}
 */
export function startEverything(dataDirectory, onChild, onExit) {
  const devFile = join(dataDirectory, 'dev.json');
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  let isStopped = false;

  /** @type {(name: string, command: string[], env: Record<string, string>) => Promise<Record<string, any>>} */
  const startChild = (name, command, env) => {
    if (isStopped) return new Promise(() => {});
    const logFile = join(dataDirectory, 'logs', `${name.replaceAll(' ', '-')}.log`);
    const child = startProcess(name, command, env, logFile);
    onChild(child.pid);
    stops.push(child.stop);
    // If the process exits before it is ready, `ready` rejects.
    void child.ready
      .then(() => child.exited.then((reason) => isStopped || onExit(reason)))
      .catch(() => {});
    return child.ready;
  };

  async function start() {
    rmSync(devFile, { force: true });
    mkdirSync(join(dataDirectory, 'logs'), { recursive: true });
    const ports = await choosePorts(join(dataDirectory, 'ports.json'), process.env);
    console.log('Starting the service (the first start creates its database) …');
    const {
      url: serviceUrl,
      panel_url: panelUrl,
      setup_url: setupUrl,
      keys,
    } = await startChild('service', ['service/dist/main.js', 'start'], {
      TRUEWARD_DATA_DIR: dataDirectory,
      TRUEWARD_DEVELOPMENT: '1',
      PORT: String(ports.service),
      PUBLIC_URL: createUrl(ports.service),
    });
    const { url: gameServerUrl } = await startChild('game server', ['demo/dist/server/main.js'], {
      PORT: String(ports.gameServer),
      SERVICE_URL: serviceUrl,
      SECRET_KEY: keys.sandbox.secret,
      PUBLISHABLE_KEY: keys.sandbox.publishable,
      DATA_DIR: join(dataDirectory, 'game-server'),
    });
    const urls = { serviceUrl, panelUrl, demoUrl: gameServerUrl, gameServerUrl };
    await Promise.all(Object.values(urls).map(checkResponse));
    if (isStopped) return;
    // Writes the file atomically. Only its owner can read it, because it contains the secret keys.
    replaceFile(devFile, JSON.stringify({ ...urls, keys }, null, 2));
    printTable({ ...urls, setupUrl }, keys, devFile);
    openBrowser(urls.demoUrl);
  }

  return {
    ready: start(),
    async stop() {
      isStopped = true;
      rmSync(devFile, { force: true });
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** @param {string} url */
async function checkResponse(url) {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (status >= 500) throw new Error(`${url} responded with status ${status}.`);
}

/**
 * @param {{ serviceUrl: string, panelUrl: string, setupUrl: string | undefined, demoUrl: string, gameServerUrl: string }} urls
 * @param {Record<'sandbox' | 'live', { publishable: string, secret: string }>} keys
 * @param {string} devFile
 */
function printTable(urls, { sandbox, live }, devFile) {
  const { serviceUrl, panelUrl, setupUrl, demoUrl, gameServerUrl } = urls;
  const rows = [
    ['Demo game', demoUrl],
    ['More examples', `${demoUrl}/examples/`],
    ['Panel', panelUrl],
    ...(setupUrl === undefined ? [] : [['Panel, first user (single-use, 24 h)', setupUrl]]),
    ['Service', serviceUrl],
    ['Game server', gameServerUrl],
    ['Sandbox, publishable key', sandbox.publishable],
    ['Sandbox, secret key', sandbox.secret],
    ['Live, publishable key', live.publishable],
    ['Live, secret key', live.secret],
    ['This table as JSON', devFile],
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const lines = rows.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}`);
  console.log(`\n${lines.join('\n')}\n\nPress Ctrl-C to stop everything.`);
}

/**
 * Opens a URL in the user's browser if there is a display. It doesn't use the `open` package, which has a dozen
 * dependencies.
 *
 * @param {string} url
 */
function openBrowser(url) {
  const { TRUEWARD_NO_OPEN, CI, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (TRUEWARD_NO_OPEN === '1' || CI) return;
  const [program = '', ...args] =
    {
      darwin: ['open'],
      win32: ['cmd', '/c', 'start', ''],
      linux: DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : [],
    }[/** @type {string} */ (process.platform)] ?? [];
  if (program === '') return;
  const opener = spawn(program, [...args, url], {
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
  });
  opener.once('error', () => console.log(`Could not open a browser; the game is at ${url}`));
  opener.unref();
}
