import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When a live process began, as a text that distinguishes it from a later one with the same id; undefined
 * when there is no such process.
 *
 * @param {number} pid
 * @returns {string | undefined}
 */
export function processStart(pid) {
  try {
    process.kill(pid, 0);
    if (process.platform === 'win32') return `pid ${pid}`;
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields 3 (state; Z has ended) and 22 (ticks since boot) of `man 5 proc`, after the name.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' ? undefined : `${boot} ${fields[19]}`;
  } catch {
    return undefined; // it ended before or between these looks
  }
}
