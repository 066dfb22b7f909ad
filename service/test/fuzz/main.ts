/** `npm run fuzz:service [requests] [seed]`: sends random requests to the service and prints every invalid response. */
import { startInProcess } from '../in-process.ts';
import { fuzz } from './fuzz.ts';

const [requests = 20_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
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
