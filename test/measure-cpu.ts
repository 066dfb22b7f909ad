import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU time of a test file in milliseconds, for `npm run test:timing`. */
    cpuMs?: number;
  }
}

// A setup file for all projects. In a browser, Node isn't available, so nothing is measured.
const fs = globalThis.process?.getBuiltinModule?.('node:fs');
const before = cpuMs();

// oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixtures from the first argument.
afterAll(({}, { meta }) => {
  const after = cpuMs();
  if (before !== undefined && after !== undefined) meta.cpuMs = after - before;
});

/**
 * Returns the CPU time that this process has used. On Linux, this includes child processes that have exited
 * (proc_pid_stat(5)).
 */
function cpuMs(): number | undefined {
  if (!fs) return undefined;
  const { user, system } = process.cpuUsage();
  if (!fs.existsSync('/proc/self/stat')) return (user + system) / 1000;
  const fields = fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  // cutime and cstime are fields 16 and 17, in clock ticks of 10 ms. The split has removed the first two fields.
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10;
}
