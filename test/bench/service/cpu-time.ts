import { readFileSync } from 'node:fs';

/** The kernel reports times in hundredths of a second (USER_HZ) on all architectures. */
const tickUs = 10_000;

/**
 * Returns the CPU time that all of a process's threads have used so far, in microseconds. Returns 0 if the process has
 * exited.
 */
export function cpuTimeUs(pid: number): number {
  const fields = readStat(pid);
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

/** Like {@link cpuTimeUs}, but includes running and exited child processes. */
export function treeTimeUs(pid: number, children: readonly number[]): number {
  const fields = readStat(pid);
  const exitedChildrenUs = (Number(fields[13]) + Number(fields[14])) * tickUs;
  return children.reduce((sum, child) => sum + cpuTimeUs(child), cpuTimeUs(pid) + exitedChildrenUs);
}

/** Returns the fields of proc_pid_stat(5), starting with the third field. */
function readStat(pid: number): (string | number)[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces, so the fields are counted from its end.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return Array.from({ length: 20 }, () => 0);
  }
}
