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
  /** The folder with all files of the server. */
  folder: string;
  /** The pid of the postmaster. Each session is a child process of the postmaster. */
  pid(): number;
  /** Whether the server is running. The server shuts down if it cannot write its log. */
  isAlive(): boolean;
  /** Kills all processes of the server (SIGKILL). */
  kill(): Promise<void>;
  /** Restarts the server with the same data after {@link PrivatePostgres.kill}. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  /** The folder for all files of the server. Default: a new folder that is removed at the end. */
  folder?: string;
  /** Settings as in `postgresql.conf`: `max_connections=20`. */
  settings?: readonly string[];
  /** Starts the server as a read-only standby without a primary. */
  standby?: boolean;
}

/**
 * Starts a private PostgreSQL server. Uses the programs in `POSTGRES_BIN`. Default: the newest installed version.
 * Returns undefined if PostgreSQL is not installed. PostgreSQL does not run as root, so root starts the server as
 * `postgres` or `nobody`.
 */
export async function startPrivatePostgres({
  folder: existingFolder,
  settings = [],
  standby = false,
}: Options = {}): Promise<PrivatePostgres | undefined> {
  const bin = findPostgresFolder();
  if (bin === undefined) return undefined;
  const folder = existingFolder ?? mkdtempSync(join(tmpdir(), 'trueward-postgres-'));
  const identity = process.getuid?.() === 0 ? findUnprivilegedUser() : undefined;
  if (identity) chownSync(folder, identity.uid, identity.gid);
  const data = join(folder, 'data');
  const options = { ...identity, cwd: folder, stdio: 'ignore' } as const;
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'trueward', '-A', 'trust', '-N'], options);
  if (standby) writeFileSync(join(data, 'standby.signal'), '');
  const port = await getPort({ host: '127.0.0.1' });
  const serverOptions = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    // `waitUntilReady` expects log lines in English.
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
    return { server, ended: exit };
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
      await running.ended;
    },
    async start() {
      running = await startPostmaster();
    },
    async stop() {
      running.server.kill('SIGINT');
      await running.ended;
      rmSync(data, { recursive: true, force: true });
      if (existingFolder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the child processes of the main thread of a process. */
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
    // The process has exited with its parent.
  }
}

/**
 * Finds the folder with the programs of PostgreSQL.
 *
 * @throws Error if `POSTGRES_BIN` is set but does not contain the programs.
 */
export function findPostgresFolder(): string | undefined {
  const configured = process.env['POSTGRES_BIN'];
  if (configured) {
    if (hasPrograms(configured)) return configured;
    throw new Error(`POSTGRES_BIN is ${configured}; expected a folder with initdb and postgres.`);
  }
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a))
    : [];
  return [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ].find(hasPrograms);
}

const hasPrograms = (bin: string): boolean =>
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
    'PostgreSQL does not run as root, and the users postgres and nobody do not exist.',
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
