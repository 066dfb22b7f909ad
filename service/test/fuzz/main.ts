/** `npm run fuzz:service`: sends random requests to the service and prints every invalid response. See `--help`. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { startInProcess } from '../in-process.ts';
import { fuzz } from './fuzz.ts';

const { requests, seed = Date.now() % 1_000_000 } = readOptions({
  name: 'fuzz:service',
  about: `Sends random requests to a service of its own, and prints every invalid response. Exits with code 1 if there was
one.`,
  options: {
    requests: { type: 'whole', argument: true, default: 20_000, help: 'how many' },
    seed: { type: 'whole', least: 0, argument: true, help: 'repeats a run; default: random' },
  },
});
console.log(`${requests} requests, seed ${seed}`);
const running = await startInProcess({ RATE_LIMITS: 'off' });
const { findings, statuses } = await fuzz(running, {
  requests,
  seed,
  onProgress: (done) => console.log(`${done} …`),
});
console.log(Object.fromEntries([...statuses].toSorted(([a], [b]) => a - b)));
for (const finding of findings.slice(0, 20)) console.log(finding);
console.log(`${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;
await running.stop();
