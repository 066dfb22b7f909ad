import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.ts';

/** What the doctor found: in order, worth a look, or wrong; the text says what to do. */
export interface Finding {
  state: 'good' | 'odd' | 'bad';
  text: string;
}

const finding =
  (state: Finding['state']) =>
  (text: string): Finding => ({ state, text });

export const good = finding('good');
export const odd = finding('odd');
export const bad = finding('bad');

/** Below this an hour of a busy service may fill the disk. */
const leastFreeBytes = 1_073_741_824;

/** What the machine and the configuration say without opening the database. */
export function machineFindings(config: Config): Finding[] {
  return [
    nodeVersion(),
    dataFolder(config),
    ...privacy(config),
    freeSpace(config),
    masterKey(config),
    media(config),
    ...address(config),
  ];
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19)
    ? good(`Node ${process.versions.node}`)
    : bad(`Node ${process.versions.node} is too old: use 20.19 or newer`);
}

/** The folder, or the nearest one above it that exists: there it would be made. */
function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}

function dataFolder({ dataDirectory }: Config): Finding {
  try {
    accessSync(existing(dataDirectory), constants.W_OK);
    return good(`the data folder ${dataDirectory} can be written`);
  } catch {
    return bad(`the data folder ${dataDirectory} cannot be written: give this user the right to`);
  }
}

/** Whether other users of the machine can read the data. Windows has no such mode bits. */
function privacy({ dataDirectory }: Config): Finding[] {
  if (process.platform === 'win32' || !existsSync(dataDirectory)) return [];
  const remedy = `run chmod -R go= ${dataDirectory}`;
  if (isOpenToOthers(dataDirectory))
    return [bad(`other users of this machine can enter the data folder: ${remedy}`)];
  const files = listFiles(dataDirectory);
  if (files === undefined)
    return [odd('the files in the data folder cannot be listed: run doctor as the service’s user')];
  const loose = files.filter((name) => isOpenToOthers(join(dataDirectory, name)));
  return loose.length === 0
    ? [good('only this user can read the data folder and its files')]
    : [odd(`${loose.length} files are private only while their folder is: ${remedy}`)];
}

/** Undefined when the folder belongs to another user, or a running service removes a folder meanwhile. */
function listFiles(folder: string): string[] | undefined {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return undefined;
  }
}

/** False for a link, whose own mode means nothing, and for what a running service removed meanwhile. */
function isOpenToOthers(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o077) !== 0;
}

function freeSpace({ dataDirectory }: Config): Finding {
  const { bavail, bsize } = statfsSync(existing(dataDirectory));
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB are free for the data`;
  return free < leastFreeBytes ? odd(`${text}: make room`) : good(text);
}

function masterKey({ masterKey: given, dataDirectory }: Config): Finding {
  if (given !== undefined) return good('the master key comes from TRUEWARD_MASTER_KEY');
  const file = join(dataDirectory, 'master.key');
  if (!existsSync(file)) return good(`${file} will be made at the first start`);
  const open = (statSync(file).mode & 0o077) !== 0;
  return open
    ? bad(`${file} can be read by other users: chmod 600 ${file}`)
    : good(`${file} is there, and for this user only; keep a copy elsewhere`);
}

function media({ mediaDirectory }: Config): Finding {
  return existsSync(mediaDirectory)
    ? good(`media come from ${mediaDirectory}`)
    : odd(
        `there is no folder ${mediaDirectory}: set TRUEWARD_MEDIA_DIR if ads lie on this service`,
      );
}

function address({ publicUrl, development, host }: Config): Finding[] {
  const local = ['127.0.0.1', '::1', 'localhost'].includes(host);
  return [
    ...(publicUrl?.startsWith('http:') === true && !development
      ? [bad(`PUBLIC_URL is ${publicUrl}: pages on https cannot call it; put TLS in front of it`)]
      : []),
    ...(publicUrl === undefined && !development
      ? [odd('PUBLIC_URL is not set: receipts name the address that the service listens on')]
      : []),
    ...(development && !local
      ? [
          bad(
            `TRUEWARD_DEVELOPMENT=1 with HOST=${host}: the demo keys are printed, and others can reach it`,
          ),
        ]
      : []),
  ];
}

/** Whether a service answers where one is configured to listen. */
export async function runningFinding({ host, port, publicUrl }: Config): Promise<Finding> {
  const url = publicUrl ?? `http://${host}:${port}`;
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
    return answer.ok
      ? good(`a service answers at ${url}`)
      : bad(`${url}/readyz answers ${answer.status}: its database does not answer; see its log`);
  } catch {
    return odd(
      `no service answers at ${url}: start it, or set HOST, PORT or PUBLIC_URL as for the start`,
    );
  }
}
