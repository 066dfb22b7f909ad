import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Like `service/src/platform/process-identity.ts`: `npm start` needs it before anything is built.
 *
 * @typedef {{ pid: number, start: string | undefined }} ProcessIdentity `start` distinguishes a process from a later one
 *   with the same pid.
 */

/**
 * Returns the identity of this process or of one that was just started.
 *
 * @param {number} pid
 * @returns {ProcessIdentity}
 */
export function identify(pid) {
  if (process.platform !== 'win32') return { pid, start: readStart(pid) };
  return {
    pid,
    start: String(Math.round(pid === process.pid ? performance.timeOrigin : Date.now())),
  };
}

/**
 * Returns whether a process is running: `unknown` if its pid is in use, but nothing tells since when.
 *
 * @param {ProcessIdentity} process
 * @returns {boolean | 'unknown'}
 */
export function isRunning({ pid, start }) {
  if (start === undefined || !isPidInUse(pid)) return false;
  // Windows soon gives a pid to another process, perhaps to this one.
  if (pid === process.pid) return start === identify(pid).start;
  if (process.platform !== 'win32') return readStart(pid) === start;
  const startMs = readWindowsStartMs(pid);
  return startMs === undefined ? 'unknown' : Math.abs(startMs - Number(start)) < 20_000;
}

/** @param {number} pid */
export function isPidInUse(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Returns a string, based on the start time, that distinguishes a running process from a later process with the same pid.
 * Returns undefined if the process isn't running.
 *
 * @param {number} pid
 * @returns {string | undefined}
 */
function readStart(pid) {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // See `man 5 proc`. Field 3, the first after the name, is the state (Z is a zombie). Field 22 is the start time in
    // ticks since boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' ? undefined : `${boot} ${fields[19]}`;
  } catch {
    return undefined; // the process has exited
  }
}

/**
 * Returns when Windows started a process, or undefined if PowerShell can't tell.
 *
 * @param {number} pid
 */
function readWindowsStartMs(pid) {
  const script = `([DateTimeOffset](Get-Process -Id ${pid}).StartTime).ToUnixTimeMilliseconds()`;
  try {
    const text = execFileSync(
      'powershell.exe',
      ['-NoProfile', '-NonInteractive', '-Command', script],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: 10_000,
        windowsHide: true,
      },
    );
    const ms = Number.parseInt(text, 10);
    return Number.isNaN(ms) ? undefined : ms;
  } catch {
    return undefined;
  }
}
