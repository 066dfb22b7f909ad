import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second (USER_HZ), whatever the machine. */
const tickUs = 10_000;

/** CPU time of a process with all its threads so far, in microseconds; 0 when it is gone. */
export function processorTimeUs(pid: number): number {
  const fields = readStat(pid);
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

/** The same with its children, those that have ended included. */
export function treeTimeUs(pid: number, children: readonly number[]): number {
  const fields = readStat(pid);
  const ended = (Number(fields[13]) + Number(fields[14])) * tickUs;
  return children.reduce(
    (sum, child) => sum + processorTimeUs(child),
    processorTimeUs(pid) + ended,
  );
}

/** Fields of proc_pid_stat(5) from the third one on. */
function readStat(pid: number): (string | number)[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold spaces: the fields are counted from behind it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return Array.from({ length: 20 }, () => 0);
  }
}
