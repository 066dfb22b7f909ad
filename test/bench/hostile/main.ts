/** `npm run bench:hostile` measures what hostile requests, files, credentials and connections cost. See `--help`. */
import { cpus, loadavg } from 'node:os';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';
import { benchBodies } from './bodies.ts';
import { benchChanges } from './changes.ts';
import { benchConnections } from './connections.ts';
import { benchCredentials } from './credentials.ts';
import { type Finding, print } from './measure.ts';
import { benchMedia } from './media.ts';

const parts = {
  bodies: { run: benchBodies, env: { RATE_LIMITS: 'off' } },
  changes: { run: benchChanges, env: { RATE_LIMITS: 'off' } },
  media: { run: benchMedia, env: { RATE_LIMITS: 'off' } },
  // With the default limits.
  credentials: { run: benchCredentials, env: { TRUSTED_PROXIES: 'loopback' } },
  connections: { run: benchConnections, env: { RATE_LIMITS: 'off' } },
} satisfies Record<
  string,
  { run(running: InProcessService): Promise<Finding[]>; env: Record<string, string> }
>;

const { part: chosen } = readOptions({
  name: 'bench:hostile',
  about: `Measures what hostile requests, files, credentials and connections cost. Prints the machine's load at the start and
the worst of each part, and exits with 1 if one exceeds its bound.`,
  options: {
    part: {
      type: 'name',
      names: Object.keys(parts) as (keyof typeof parts)[],
      argument: true,
      several: true,
      help: 'the parts to measure',
    },
  },
});
const findings: Finding[] = [];
const [load = 0] = loadavg();
print(`Node.js ${process.version}, ${cpus().length} cores, load ${load.toFixed(1)}`);
for (const name of chosen) {
  const { run, env } = parts[name];
  const running = await startInProcess(env);
  findings.push(...(await run(running)));
  await running.stop();
}
print('');
for (const { name, value, unit, bound } of findings) {
  const verdict = value <= bound ? 'ok  ' : 'HIGH';
  print(`${verdict} ${name}: ${Number(value.toFixed(2))} ${unit} (at most ${bound})`);
}
// The client's connections, which are kept alive, would keep the process from ending.
process.exit(findings.every(({ value, bound }) => value <= bound) ? 0 : 1);
