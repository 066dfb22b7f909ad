import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import getPort from 'get-port';

/** A PostgreSQL server that tests can stop and kill. */
export interface PrivatePostgres {
  url: string;
  /** The folder that contains all server files. */
  folder: string;
  /** The postmaster's PID. Each session is a child process of the postmaster. */
  pid(): number;
  /** Whether the server is running. The server shuts down if it cannot write its write-ahead log. */
  isAlive(): boolean;
  /** Kills all server processes (SIGKILL). */
  kill(): Promise<void>;
  /** Restarts the server with the same data after {@link PrivatePostgres.kill}. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  /** The folder for all server files. Default: a new folder that is removed when the server stops. */
  folder?: string;
  /** Settings in `postgresql.conf` format, such as `max_connections=20`. */
  settings?: readonly string[];
  /** Starts the server as a read-only standby without a primary. */
  standby?: boolean;
  /** Whether the data stays in the folder when the server stops, and is used again. Default: false. */
  keep?: boolean;
}

/**
 * Starts a private PostgreSQL server from the binaries in `POSTGRES_BIN` or, by default, from the newest installed
 * version. Returns undefined if PostgreSQL is not installed. PostgreSQL refuses to run as root, so if the tests run as
 * root, the server runs as `postgres` or `nobody`.
 */
export async function startPrivatePostgres({
  folder: existingFolder,
  settings = [],
  standby = false,
  keep = false,
}: Options = {}): Promise<PrivatePostgres | undefined> {
  const bin = findPostgresFolder();
  if (bin === undefined) return undefined;
  const folder = existingFolder ?? mkdtempSync(join(tmpdir(), 'trueward-postgres-'));
  const identity = process.getuid?.() === 0 ? findUnprivilegedUser() : undefined;
  if (identity) chownSync(folder, identity.uid, identity.gid);
  const data = join(folder, 'data');
  const options = { ...identity, cwd: folder, stdio: 'ignore' } as const;
  if (!keep || !existsSync(data))
    execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'trueward', '-A', 'trust', '-N'], options);
  if (standby) writeFileSync(join(data, 'standby.signal'), '');
  const port = await getPort({ host: '127.0.0.1' });
  const serverOptions = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    // `waitUntilReady` expects the log to be in English.
    'lc_messages=C',
    ...settings,
  ].flatMap((setting) => ['-c', setting]);
  const url = `postgres://trueward@127.0.0.1:${port}/postgres`;
  const startPostmaster = async () => {
    const server = spawn(join(bin, 'postgres'), ['-D', data, ...serverOptions], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // Stops the server even if the test run is interrupted.
    const end = () => server.kill('SIGINT');
    process.once('exit', end);
    const exit = new Promise<void>((resolve) =>
      server.once('exit', () => {
        process.off('exit', end);
        resolve();
      }),
    );
    await waitUntilReady(server.stderr);
    return { server, exit };
  };
  let running = await startPostmaster();
  return {
    url,
    folder,
    pid: () => running.server.pid ?? 0,
    isAlive: () => running.server.exitCode === null && running.server.signalCode === null,
    async kill() {
      const children = listChildProcesses(running.server.pid ?? 0);
      // The postmaster would restart its child processes, so it is killed first.
      running.server.kill('SIGKILL');
      for (const pid of children) killIfRunning(pid);
      await running.exit;
    },
    async start() {
      running = await startPostmaster();
    },
    async stop() {
      running.server.kill('SIGINT');
      await running.exit;
      if (keep) return;
      rmSync(data, { recursive: true, force: true });
      if (existingFolder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the PIDs of the child processes that the process's main thread has started. */
export const listChildProcesses = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already exited along with its parent.
  }
}

/**
 * Finds the folder with the PostgreSQL binaries.
 *
 * @throws Error if `POSTGRES_BIN` is set but does not contain the binaries.
 */
export function findPostgresFolder(): string | undefined {
  const configuredFolder = process.env['POSTGRES_BIN'];
  if (configuredFolder) {
    if (hasBinaries(configuredFolder)) return configuredFolder;
    throw new Error(
      `POSTGRES_BIN is ${configuredFolder}; expected a folder that contains initdb and postgres.`,
    );
  }
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a))
    : [];
  return [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ].find(hasBinaries);
}

const hasBinaries = (bin: string): boolean =>
  existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres'));

export function findUnprivilegedUser(): { uid: number; gid: number } {
  const id = (option: string, name: string) =>
    Number(
      execFileSync('id', [option, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      // This user does not exist.
    }
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and neither the postgres nor the nobody user exists.',
  );
}

/** Resolves when the server accepts connections. Rejects with the log if the server exits first. */
async function waitUntilReady(log: Readable): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    createInterface(log)
      .on('line', (line) => {
        text += `${line}\n`;
        if (/database system is ready to accept (read-only )?connections/.test(line)) resolve();
      })
      .once('close', () => reject(new Error(`PostgreSQL exited before it was ready:\n${text}`)));
  });
}
