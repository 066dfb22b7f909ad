import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import getPort from 'get-port';

/** A PostgreSQL server of this run alone. */
export interface PrivatePostgres {
  url: string;
  /** Where it keeps everything. */
  folder: string;
  /** Of the server's first process; its children are the sessions. */
  pid(): number;
  /** Whether it runs: it ends itself when it cannot write its log. */
  isAlive(): boolean;
  /** Ends all of its processes as a crash of the machine does (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it again after {@link PrivatePostgres.kill}, on the same data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  /** Where it shall keep everything; absent: a new folder, removed at the end. */
  folder?: string;
  /** As in `postgresql.conf`: `max_connections=20`. */
  settings?: readonly string[];
}

/**
 * Starts a private PostgreSQL server from the programs in the folder `POSTGRES_BIN`, else from the newest
 * ones of the machine; undefined when there are none. `initdb` refuses root, so that root lends it the account of `postgres` or `nobody`.
 */
export async function startPrivatePostgres({ folder: given, settings = [] }: Options = {}): Promise<
  PrivatePostgres | undefined
> {
  const bin = findPrograms();
  if (bin === undefined) return undefined;
  const folder = given ?? mkdtempSync(join(tmpdir(), 'trueward-postgres-'));
  const as = process.getuid?.() === 0 ? unprivileged() : undefined;
  if (as) chownSync(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  const options = { ...as, cwd: folder, stdio: 'ignore' } as const;
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'trueward', '-A', 'trust', '-N'], options);
  const port = await getPort({ host: '127.0.0.1' });
  const all = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    // For the line that says that it is ready.
    'lc_messages=C',
    ...settings,
  ].flatMap((setting) => ['-c', setting]);
  const url = `postgres://trueward@127.0.0.1:${port}/postgres`;
  const launch = async () => {
    const server = spawn(join(bin, 'postgres'), ['-D', data, ...all], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // A test run that is interrupted leaves no server behind.
    const end = () => server.kill('SIGINT');
    process.once('exit', end);
    const ended = new Promise<void>((resolve) =>
      server.once('exit', () => {
        process.off('exit', end);
        resolve();
      }),
    );
    await untilReady(server.stderr);
    return { server, ended };
  };
  let running = await launch();
  return {
    url,
    folder,
    pid: () => running.server.pid ?? 0,
    isAlive: () => running.server.exitCode === null && running.server.signalCode === null,
    async kill() {
      const children = childrenOf(running.server.pid ?? 0);
      // First the one that would start them anew.
      running.server.kill('SIGKILL');
      for (const pid of children) killIfThere(pid);
      await running.ended;
    },
    async start() {
      running = await launch();
    },
    async stop() {
      running.server.kill('SIGINT');
      await running.ended;
      rmSync(data, { recursive: true, force: true });
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes that a process has started, by its own thread. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended with its parent.
  }
}

/** @throws Error when `POSTGRES_BIN` names a folder without them: another version would be tried unnoticed. */
function findPrograms(): string | undefined {
  const given = process.env['POSTGRES_BIN'];
  if (given) {
    if (hasPrograms(given)) return given;
    throw new Error(`POSTGRES_BIN is ${given}; expected a folder with initdb and postgres.`);
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

function unprivileged(): { uid: number; gid: number } {
  const id = (option: string, name: string) =>
    Number(
      execFileSync('id', [option, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      // There is no such account; the next one may exist.
    }
  }
  throw new Error('PostgreSQL refuses root, and there is neither an account postgres nor nobody.');
}

/** @throws Error with what the server wrote when it ends before it takes connections. */
async function untilReady(log: Readable): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    createInterface(log)
      .on('line', (line) => {
        text += `${line}\n`;
        if (line.includes('database system is ready to accept connections')) resolve();
      })
      .once('close', () => reject(new Error(`PostgreSQL ended before it was ready:\n${text}`)));
  });
}
