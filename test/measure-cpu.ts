import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Of a test file: the CPU time that it took, in milliseconds. `npm run test:timing` shows it. */
    cpuMs?: number;
  }
}

// The one setup file of all projects; in a browser, where there is no Node, nobody can tell.
const fs = globalThis.process?.getBuiltinModule?.('node:fs');
const before = cpuMs();

// oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixtures out of the first argument.
afterAll(({}, { meta }) => {
  const after = cpuMs();
  if (before !== undefined && after !== undefined) meta.cpuMs = after - before;
});

/** CPU time of this process and, on Linux, of those it started that have ended (proc_pid_stat(5)). */
function cpuMs(): number | undefined {
  if (!fs) return undefined;
  const { user, system } = process.cpuUsage();
  if (!fs.existsSync('/proc/self/stat')) return (user + system) / 1000;
  const fields = fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  // cutime and cstime are the fields 16 and 17, in hundredths of a second; the split took two.
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10;
}
