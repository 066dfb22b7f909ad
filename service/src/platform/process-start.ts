import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** When a process began, as a text that tells it from a later one with the same id; undefined when there is none. */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, but belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return undefined;
  }
  if (process.platform === 'linux') return linuxStart(pid);
  if (process.platform === 'win32') return `pid ${pid}`;
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/** Field 22 of /proc/pid/stat counts ticks since boot, so the boot's id belongs to it (`man 5 proc`). */
function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined; // ended, and not yet reaped by its parent
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined; // it ended between the two looks
  }
}
