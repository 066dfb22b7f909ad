import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second (USER_HZ), whatever the machine. */
const tickUs = 10_000;

/** Processor time of a process with all its threads so far, in microseconds; 0 when it is gone. */
export function processorTimeUs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold spaces: the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickUs;
  } catch {
    return 0;
  }
}
