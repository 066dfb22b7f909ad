import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listChildProcesses } from '../../../service/test/private-postgres.ts';
import { treeTimeUs } from '../service/cpu-time.ts';

/** A PostgreSQL server on this machine. */
export interface LocalServer {
  port: number;
  /** Returns the CPU time that all of the server's processes have used so far, in microseconds. */
  cpuTimeUs(): number;
  /** Kills all of the server's processes (SIGKILL), as if the machine had crashed. */
  kill(): void;
  /**
   * Restarts the server with the same program, arguments, environment and user. The server keeps running after this
   * process has exited.
   */
  restart(): void;
}

/** @throws Error if no process is listening on the port, or if this user can't inspect the process. */
export function findServer(port: number): LocalServer {
  const pid = findListener(port);
  const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    .split('\0')
    .filter((text) => text !== '');
  // The restarted server needs HOME, because a cluster's nodes connect to each other with libpq, which reads files
  // there.
  const env = Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((text) => text.includes('='))
      .map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
  const executable = readlinkSync(`/proc/${pid}/exe`);
  const cwd = readlinkSync(`/proc/${pid}/cwd`);
  const { uid, gid } = statSync(cwd);
  return {
    port,
    cpuTimeUs: () => treeTimeUs(pid, listChildProcesses(pid)),
    kill() {
      const sessions = listChildProcesses(pid);
      // The postmaster is killed first. Otherwise, it would recover from the crash of its child processes.
      for (const target of [pid, ...sessions]) killIfRunning(target);
    },
    restart() {
      const as = process.getuid?.() === 0 ? { uid, gid } : {};
      const options = { ...as, cwd, env, argv0: program, detached: true, stdio: 'ignore' } as const;
      spawn(executable, args, options).unref();
    },
  };
}

/** Returns the pid of the process that listens on a TCP port, as found in /proc. */
function findListener(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listenState = '0A';
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === listenState)
      .map((fields) => `socket:[${fields[9]}]`),
  );
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const listener = pids.find((pid) => openFiles(pid).some((file) => sockets.includes(file)));
  if (listener === undefined)
    throw new Error(
      `No process on this machine is listening on port ${port}. The benchmark reads CPU times, so all servers must run here, and you need permission to inspect them.`,
    );
  return listener;
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch {
    // The process belongs to another user, or has exited.
    return [];
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already exited, for example because its parent did.
  }
}
