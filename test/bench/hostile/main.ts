/**
 * Measures what hostile requests and files cost, and prints the worst: `npm run bench:hostile`. A request must cost at most
 * three times as much CPU time as a plain request of the same size, and a file must be answered within 5 s.
 */
import { connect, type Socket } from 'node:net';
import { createProbeThread } from '../../../service/src/media/probe-thread.ts';
import { deriveHostileBodies } from '../../../service/test/hostile/bodies.ts';
import { createHostileFiles } from '../../../service/test/hostile/media.ts';
import { listBodyRoutes } from '../../../service/test/hostile/routes.ts';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const unlimited = '1000000/1000000';
/** Each request is repeated, and the smallest cost counts, because garbage collection adds to some. */
const repetitions = 5;

async function benchBodies({ service, keys }: InProcessService): Promise<void> {
  const results: { name: string; ratio: number; ms: number; bytes: number }[] = [];
  for (const { method, url, schema, limit } of listBodyRoutes(service)) {
    const key = /decisions$|events$/.test(url) ? keys.sandbox.publishable : keys.sandbox.secret;
    const send = async (payload: string) => {
      let [ms, bytes] = [Infinity, 0];
      for (let times = 0; times < repetitions; times += 1) {
        const before = process.cpuUsage();
        const response = await service.app.inject({
          method: method as 'POST',
          url,
          payload,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        });
        const { user, system } = process.cpuUsage(before);
        ms = Math.min(ms, (user + system) / 1_000);
        bytes = Math.max(bytes, response.rawPayload.length);
      }
      return { ms, bytes };
    };
    const plain = await send(`{"unknown":"${'x'.repeat(limit - 100)}"}`);
    for (const { name, text } of deriveHostileBodies(schema, limit)) {
      const { ms, bytes } = await send(text);
      results.push({ name: `${method} ${url}, ${name}`, ms, bytes, ratio: ms / plain.ms });
    }
  }
  const largest = results.toSorted((a, b) => b.bytes - a.bytes)[0];
  print(`${results.length} hostile bodies; the largest answer has ${largest?.bytes} bytes`);
  for (const { name, ratio, ms } of results.toSorted((a, b) => b.ratio - a.ratio).slice(0, 15))
    print(`  ${ratio.toFixed(1)} × a plain body, ${ms.toFixed(2)} ms of CPU: ${name}`);
}

async function benchFiles(): Promise<void> {
  const thread = createProbeThread();
  const results: { name: string; ms: number }[] = [];
  let longestStallMs = 0;
  let tickAtMs = performance.now();
  const timer = setInterval(() => {
    longestStallMs = Math.max(longestStallMs, performance.now() - tickAtMs - 10);
    tickAtMs = performance.now();
  }, 10);
  const files = createHostileFiles();
  tickAtMs = performance.now();
  for (const { name, bytes } of files) {
    const startedAtMs = performance.now();
    await thread.probe(bytes).catch(() => undefined);
    results.push({ name, ms: performance.now() - startedAtMs });
  }
  clearInterval(timer);
  await thread.stop();
  print(
    `${files.length} hostile files; the process stalled for ${longestStallMs.toFixed(0)} ms at most`,
  );
  for (const { name, ms } of results.toSorted((a, b) => b.ms - a.ms).slice(0, 10))
    print(`  ${(ms / 1_000).toFixed(2)} s: ${name}`);
}

const connections = 5_000;

async function benchHalfOpen({ url, keys }: InProcessService): Promise<void> {
  const { port, hostname } = new URL(url);
  const sockets: Socket[] = [];
  let closed = 0;
  const startedAtMs = performance.now();
  for (let index = 0; index < connections; index += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).once('close', () => (closed += 1));
    // A third says nothing, a third stops in the headers, and a third in the body.
    const parts = ['', 'GET / HTTP/1.1\r\nHos', 'GET / HTTP/1.1\r\nHost: a\r\nX: '];
    socket.write(parts[index % 3] ?? '');
    sockets.push(socket);
    if (index % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  const requestedAtMs = performance.now();
  const { status } = await fetch(`${url}/v1/decisions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keys.sandbox.publishable}`,
      'content-type': 'application/json',
    },
    body: '{"placement":"revive","user_ref":"u"}',
  });
  const decisionMs = performance.now() - requestedAtMs;
  while (closed < connections && performance.now() - startedAtMs < 60_000)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
  print(`${connections} half-open connections: ${closed} closed after ${seconds} s`);
  print(`  a decision meanwhile: ${status} after ${decisionMs.toFixed(0)} ms`);
  for (const socket of sockets) socket.destroy();
}

const running = await startInProcess({
  RATE_LIMIT_KEY_SANDBOX: unlimited,
  RATE_LIMIT_KEY_CEILING: unlimited,
  RATE_LIMIT_ADDRESS: unlimited,
});
await benchBodies(running);
await benchHalfOpen(running);
await running.stop();
await benchFiles();
