import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process. Its start time distinguishes it from a later process that has the same pid. */
export interface ProcessIdentity {
  pid: number;
  /** The start time, in a format that depends on the platform. */
  start: string;
}

/** Returns the identity of this process. */
export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  start:
    process.platform === 'win32'
      ? String(Math.round(performance.timeOrigin))
      : (readStart(process.pid) ?? ''),
});

/** Returns whether the process is running. Where the start time can't be read, the pid decides. */
export function isRunning({ pid, start }: ProcessIdentity): boolean {
  if (start === '' || !isPidInUse(pid)) return false;
  // Windows soon gives a pid to another process, perhaps to this one.
  if (pid === process.pid) return start === ownIdentity().start;
  if (process.platform !== 'win32') return readStart(pid) === start;
  const startMs = readWindowsStartMs(pid);
  return startMs === undefined || Math.abs(startMs - Number(start)) < maxStartDifferenceMs;
}

function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process is running, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Returns the start time of a process, or undefined if it is not running. */
function readStart(pid: number): string | undefined {
  if (process.platform === 'linux') return readLinuxStart(pid);
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined; // The process has just exited.
  }
}

/**
 * Combines the boot id with the start time in field 22 of /proc/pid/stat, which is relative to boot time (`man 5
 * proc`).
 */
function readLinuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined; // A zombie has exited, but its parent hasn't reaped it.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined; // The process has just exited.
  }
}

/** A process notices its own start somewhat later than Windows does, for example while a virus scanner reads the program. */
const maxStartDifferenceMs = 20_000;

/** Returns when Windows started a process, or undefined if PowerShell can't tell. Takes half a second. */
function readWindowsStartMs(pid: number): number | undefined {
  const script = `([DateTimeOffset](Get-Process -Id ${pid}).StartTime).ToUnixTimeMilliseconds()`;
  const args = ['-NoProfile', '-NonInteractive', '-Command', script];
  try {
    const text = execFileSync('powershell.exe', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
      windowsHide: true,
    });
    const ms = Number.parseInt(text, 10);
    return Number.isNaN(ms) ? undefined : ms;
  } catch {
    return undefined;
  }
}
