/**
 * Measures what hostile requests, files, credentials and connections cost: `npm run bench:hostile`, or with the names of
 * some parts: `npm run bench:hostile -- bodies media`. Prints the worst of each, writes the results page
 * (`docs/benchmarks/hostile.md`), and exits with 1 if one exceeds its bound.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';
import { benchBodies } from './bodies.ts';
import { benchChanges } from './changes.ts';
import { benchConnections } from './connections.ts';
import { benchCredentials } from './credentials.ts';
import { type Finding, print, printed } from './measure.ts';
import { benchMedia } from './media.ts';

const parts: Record<
  string,
  { run(running: InProcessService): Promise<Finding[]>; env: Record<string, string> }
> = {
  bodies: { run: benchBodies, env: { RATE_LIMITS: 'off' } },
  changes: { run: benchChanges, env: { RATE_LIMITS: 'off' } },
  media: { run: benchMedia, env: { RATE_LIMITS: 'off' } },
  // With the default limits.
  credentials: { run: benchCredentials, env: { TRUSTED_PROXIES: 'loopback' } },
  connections: { run: benchConnections, env: { RATE_LIMITS: 'off' } },
};

const chosen = process.argv.slice(2);
const findings: Finding[] = [];
const [load = 0] = loadavg();
for (const [name, { run, env }] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const running = await startInProcess(env);
  findings.push(...(await run(running)));
  await running.stop();
}
print('');
for (const { name, value, unit, bound } of findings) {
  const verdict = value <= bound ? 'ok  ' : 'HIGH';
  print(`${verdict} ${name}: ${Number(value.toFixed(2))} ${unit} (at most ${bound})`);
}
const page = `# Hostile requests, files, credentials and connections

\`npm run bench:hostile${chosen.length > 0 ? ` -- ${chosen.join(' ')}` : ''}\` on ${new Date().toISOString().slice(0, 10)}, Node.js ${process.version}, embedded database, client and
service on one machine with ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}). Its load was ${load.toFixed(1)} when the benchmark started, so
everything above ${cpus().length} means that other work competed with it. Lines with HIGH exceed their bound.

\`\`\`text
${printed.join('\n').trim()}
\`\`\`
`;
writeFileSync(fileURLToPath(new URL('../../../docs/benchmarks/hostile.md', import.meta.url)), page);
// The client's connections, which are kept alive, would keep the process from ending.
process.exit(findings.every(({ value, bound }) => value <= bound) ? 0 : 1);
