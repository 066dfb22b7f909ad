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
import { createSingleSignOn } from '../../access/single-sign-on.ts';
import type { Config } from '../config/config.ts';
import { findBlockedNames } from './blocked-names.ts';

/** The result of one check. For a warning or a failure, `text` also says how to fix it. */
export interface Finding {
  state: 'ok' | 'warn' | 'fail';
  text: string;
}

const createFindingFactory =
  (state: Finding['state']) =>
  (text: string): Finding => ({ state, text });

export const ok = createFindingFactory('ok');
export const warn = createFindingFactory('warn');
export const fail = createFindingFactory('fail');

/** With less free space than this, a busy service could fill the disk within an hour. */
const minFreeBytes = 1_073_741_824;

/** Runs the checks that don't need the database. */
export function checkMachine(config: Config): Finding[] {
  return [
    checkNodeVersion(),
    checkDataFolder(config),
    ...checkDataPermissions(config),
    checkFreeSpace(config),
    ...checkLocalDisk(config),
    checkMasterKey(config),
    checkMedia(config),
    ...checkNetwork(config),
  ];
}

function checkNodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19)
    ? ok(`Node ${process.versions.node}`)
    : fail(`Node ${process.versions.node} is too old: use 20.19 or newer`);
}

/** Returns the folder if it exists, and otherwise its nearest ancestor that exists. */
function findExistingFolder(folder: string): string {
  return existsSync(folder) ? folder : findExistingFolder(dirname(folder));
}

function checkDataFolder({ dataDirectory }: Config): Finding {
  try {
    accessSync(findExistingFolder(dataDirectory), constants.W_OK);
    return ok(`the data folder ${dataDirectory} is writable`);
  } catch {
    return fail(
      `the data folder ${dataDirectory} is not writable: give this user write permission`,
    );
  }
}

/** Checks that other users on this machine cannot read the data. Skipped on Windows, which has no POSIX mode bits. */
function checkDataPermissions({ dataDirectory }: Config): Finding[] {
  if (process.platform === 'win32' || !existsSync(dataDirectory)) return [];
  const remedy = `run chmod -R go= ${dataDirectory}`;
  if (isOpenToOthers(dataDirectory))
    return [fail(`other users on this machine can access the data folder: ${remedy}`)];
  const files = listFiles(dataDirectory);
  if (files === undefined)
    return [
      warn('the files in the data folder cannot be listed: run doctor as the service’s user'),
    ];
  const exposedFiles = files.filter((name) => isOpenToOthers(join(dataDirectory, name)));
  return exposedFiles.length === 0
    ? [ok('only this user can read the data folder and its files')]
    : [
        warn(
          `only the folder’s permissions protect ${exposedFiles.length} of the files in it: ${remedy}`,
        ),
      ];
}

/**
 * Returns undefined if the folder belongs to another user, or if a running service removes a subfolder during the call.
 */
function listFiles(folder: string): string[] | undefined {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return undefined;
  }
}

/**
 * Returns whether other users have any access to a file. Returns false for symbolic links, because their own mode has
 * no effect, and for files that a running service has just removed.
 */
function isOpenToOthers(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o077) !== 0;
}

function checkFreeSpace({ dataDirectory }: Config): Finding {
  const { bavail, bsize } = statfsSync(findExistingFolder(dataDirectory));
  const freeBytes = bavail * bsize;
  const text = `${(freeBytes / 1e9).toFixed(1)} GB of free disk space`;
  return freeBytes < minFreeBytes ? warn(`${text}: free up space`) : ok(text);
}

/** The types of network file systems that `statfs` reports on Linux (`man 2 statfs`). */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
]);

/** An embedded database needs locks and flushes that network drives don't give. */
export function checkLocalDisk(
  { dataDirectory, databaseUrl }: Pick<Config, 'dataDirectory' | 'databaseUrl'>,
  readType: (folder: string) => number = (folder) => statfsSync(folder).type,
): Finding[] {
  if (databaseUrl !== undefined) return [];
  const drive = dataDirectory.startsWith('\\\\')
    ? 'network'
    : networkFileSystems.get(readType(findExistingFolder(dataDirectory)));
  return drive === undefined
    ? []
    : [
        warn(
          `the data folder ${dataDirectory} is on a ${drive} drive, where a power failure can damage the database: set TRUEWARD_DATA_DIR to a folder on a local disk, or use PostgreSQL`,
        ),
      ];
}

function checkMasterKey({ masterKey, dataDirectory }: Config): Finding {
  if (masterKey !== undefined) return ok('the master key comes from TRUEWARD_MASTER_KEY');
  const file = join(dataDirectory, 'master.key');
  if (!existsSync(file)) return ok(`${file} will be created on first start`);
  if (process.platform === 'win32')
    return ok(`the master key is in ${file}; keep a backup elsewhere`);
  const isExposed = (statSync(file).mode & 0o077) !== 0;
  return isExposed
    ? fail(`${file} can be read by other users: run chmod 600 ${file}`)
    : ok(`only this user can read ${file}; keep a backup elsewhere`);
}

function checkMedia({ mediaDirectory }: Config): Finding {
  return existsSync(mediaDirectory)
    ? ok(`media files are served from ${mediaDirectory}`)
    : warn(
        `the folder ${mediaDirectory} does not exist: set TRUEWARD_MEDIA_DIR if this service hosts media`,
      );
}

function checkNetwork({ publicUrl, development, host }: Config): Finding[] {
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host);
  return [
    ...(publicUrl?.startsWith('http:') === true && !development
      ? [
          fail(
            `PUBLIC_URL is ${publicUrl}, which HTTPS pages cannot call: put a TLS proxy in front of the service`,
          ),
        ]
      : []),
    ...findBlockedNames(publicUrl ?? '').map((name) =>
      warn(
        `PUBLIC_URL contains "${name}", so ad blockers block its videos and pages on every site: use a neutral name, such as https://play.example`,
      ),
    ),
    ...(publicUrl === undefined && !development
      ? [warn('PUBLIC_URL is not set: receipts contain the URL that the service listens on')]
      : []),
    ...(development && !isLocal
      ? [
          fail(
            `TRUEWARD_DEVELOPMENT=1 with HOST=${host}: demo keys are printed, and other machines can reach the service`,
          ),
        ]
      : []),
  ];
}

/** Checks whether a service responds at the configured URL. */
export async function checkRunningService({ host, port, publicUrl }: Config): Promise<Finding> {
  const url = publicUrl ?? `http://${host}:${port}`;
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
    return response.ok
      ? ok(`a service is running at ${url}`)
      : fail(
          `${url}/readyz returned ${response.status}: the service's database is unavailable; see the service's log`,
        );
  } catch {
    return warn(
      `no service responds at ${url}: start it, or set the HOST, PORT or PUBLIC_URL that it was started with`,
    );
  }
}

/** Checks that the OpenID provider answers, if there is one. */
export async function checkSingleSignOn({
  singleSignOn,
}: Pick<Config, 'singleSignOn'>): Promise<Finding[]> {
  if (!singleSignOn) return [];
  try {
    const redirectUrl = 'http://127.0.0.1/panel/api/single-sign-on/callback';
    await createSingleSignOn(singleSignOn).begin({ redirectUrl, isFresh: false });
    return [ok(`the OpenID provider ${singleSignOn.issuer} answers`)];
  } catch (error) {
    const { message } = error as Error;
    return [
      fail(
        `the OpenID provider ${singleSignOn.issuer} can't be used (${message}): check OIDC_ISSUER, which is the URL before /.well-known/openid-configuration`,
      ),
    ];
  }
}
