import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { openBrowser } from './open-browser.mjs';
import { startProcess } from './start-process.mjs';

const defaultPorts = { service: 8787, gameServer: 8788 };
const at = (/** @type {number} */ port) => `http://127.0.0.1:${port}`;

/**
 * Starts the service, and the game server, which serves the demo game too.
 *
 * @param {string} dataDirectory
 * @param {(pid: number) => void} onChild Hears the id of each process that is started.
 * @param {(reason: string) => void} onDeath Hears when one of them ends by itself.
 * @returns {{ ready: Promise<void>, stop(): Promise<void> }}
 */
export function startEverything(dataDirectory, onChild, onDeath) {
  const devFile = join(dataDirectory, 'dev.json');
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  let stopped = false;

  /** @type {(name: string, command: string[], env: Record<string, string>) => Promise<Record<string, any>>} */
  const startChild = (name, command, env) => {
    if (stopped) return new Promise(() => {});
    const logFile = join(dataDirectory, 'logs', `${name.replaceAll(' ', '-')}.log`);
    const child = startProcess(name, command, env, logFile);
    onChild(child.pid);
    stops.push(child.stop);
    // While it starts, `ready` says it.
    void child.ready
      .then(() => child.ended.then((reason) => stopped || onDeath(reason)))
      .catch(() => {});
    return child.ready;
  };

  async function start() {
    rmSync(devFile, { force: true });
    mkdirSync(join(dataDirectory, 'logs'), { recursive: true });
    const ports = await choosePorts(join(dataDirectory, 'ports.json'));
    console.log('Starting the service (the first start makes its database) …');
    const {
      url: serviceUrl,
      panel_url: panelUrl,
      setup_url: setupUrl,
      keys,
    } = await startChild('service', ['service/dist/main.js', 'start'], {
      TRUEWARD_DATA_DIR: dataDirectory,
      TRUEWARD_DEVELOPMENT: '1',
      PORT: String(ports.service),
      PUBLIC_URL: at(ports.service),
    });
    const { url: gameServerUrl } = await startChild('game server', ['demo/dist/server/main.js'], {
      PORT: String(ports.gameServer),
      SERVICE_URL: serviceUrl,
      SECRET_KEY: keys.sandbox.secret,
      PUBLISHABLE_KEY: keys.sandbox.publishable,
      DATA_DIR: join(dataDirectory, 'game-server'),
    });
    const addresses = { serviceUrl, panelUrl, demoUrl: gameServerUrl, gameServerUrl };
    await Promise.all(Object.values(addresses).map(checkAnswer));
    if (stopped) return;
    // Complete from its first moment; and only the owner may read the secret keys.
    const text = JSON.stringify({ ...addresses, keys }, null, 2);
    writeFileSync(`${devFile}.new`, text, { mode: 0o600 });
    renameSync(`${devFile}.new`, devFile);
    printTable({ ...addresses, setupUrl }, keys, devFile);
    openBrowser(addresses.demoUrl);
  }

  return {
    ready: start(),
    async stop() {
      stopped = true;
      rmSync(devFile, { force: true });
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/**
 * The ports of the last start, or the usual ones, or free ones; remembered for the next start.
 *
 * @param {string} file
 */
async function choosePorts(file) {
  const last = readPorts(file);
  const service = await freePort([last.service, defaultPorts.service]);
  const gameServer = await freePort([last.gameServer, defaultPorts.gameServer], [service]);
  const ports = { service, gameServer };
  writeFileSync(file, JSON.stringify(ports));
  return ports;
}

/** @param {string} file */
function readPorts(file) {
  try {
    return { ...defaultPorts, ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return defaultPorts; // a first start; or a torn file, of which nothing depends
  }
}

/** @param {string} url */
async function checkAnswer(url) {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (status >= 500) throw new Error(`${url} answers with status ${status}.`);
}

/**
 * @param {{ serviceUrl: string, panelUrl: string, setupUrl: string | undefined, demoUrl: string, gameServerUrl: string }} addresses
 * @param {Record<'sandbox' | 'live', { publishable: string, secret: string }>} keys
 * @param {string} devFile
 */
function printTable(addresses, { sandbox, live }, devFile) {
  const { serviceUrl, panelUrl, setupUrl, demoUrl, gameServerUrl } = addresses;
  const rows = [
    ['Demo game', demoUrl],
    ['More examples', `${demoUrl}/examples/`],
    ['Panel', panelUrl],
    ...(setupUrl === undefined ? [] : [['Panel, first user (once, 24 h)', setupUrl]]),
    ['Service', serviceUrl],
    ['Game server', gameServerUrl],
    ['Sandbox, publishable key', sandbox.publishable],
    ['Sandbox, secret key', sandbox.secret],
    ['Live, publishable key', live.publishable],
    ['Live, secret key', live.secret],
    ['The same for programs', devFile],
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const lines = rows.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}`);
  console.log(`\n${lines.join('\n')}\n\nPress Ctrl-C to end all of it.`);
}
