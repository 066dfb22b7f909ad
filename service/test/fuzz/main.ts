/** `npm run fuzz:service`: sends random requests to the service and prints every invalid response. See `--help`. */
import { startInProcess } from '../in-process.ts';
import { fuzz } from './fuzz.ts';

const help = `npm run fuzz:service [-- <requests> <seed>]

Sends random requests to a service of its own, and prints every invalid response. Default: 20000
requests with a random seed. Exits with code 1 if there was an invalid response.`;

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(help);
  process.exit();
}
const [requests = 20_000, seed = Date.now() % 1_000_000] = args.map(Number);
if (args.length > 2 || !Number.isInteger(requests) || !Number.isInteger(seed) || requests < 1) {
  console.error(`Expected up to two whole numbers, received ${args.join(' ')}.\n\n${help}`);
  process.exit(1);
}
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
