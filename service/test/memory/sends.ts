/**
 * `node --expose-gc --import tsx service/test/memory/sends.ts [sends]`: sends this many webhooks over HTTP and prints
 * how much memory they leak. As in the service, all sends share one long-lived stop signal.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';
import { systemClock } from '../../src/platform/time.ts';
import { createGuardedAgent } from '../../src/platform/guarded-agent.ts';
import { createSender } from '../../src/webhook/sender.ts';

/** The result, which is printed as one line of JSON. */
export interface SendsReport {
  node: string;
  failed: number;
  /**
   * Heap usage in bytes, measured after a garbage collection: once after the warm-up and again after each tenth of the
   * sends.
   */
  heap: number[];
  /** The number of live objects at the end, for classes that each send instantiates. */
  liveObjects: { AbortSignal: number; Timeout: number; WeakRef: number };
}

const sends = Number(process.argv[2] ?? 200_000);
const concurrency = 16;

const receiver = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.writeHead(204).end());
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
const agent = createGuardedAgent({ loopback: true });
const send = createSender({ clock: systemClock, agents: { strict: agent, development: agent } });
const stopController = new AbortController();
const secrets = [`whsec_${Buffer.alloc(32).toString('base64')}`];

let failed = 0;
async function sendMany(count: number): Promise<void> {
  let remaining = count;
  const sendNext = async (): Promise<void> => {
    while (remaining > 0) {
      remaining -= 1;
      const request = { url, id: 'evt_1', body: '{}', secrets, loopback: true };
      const { status } = await send(request, stopController.signal);
      if (status !== 204) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendNext));
}

async function readHeap(): Promise<number> {
  // Objects released by finalizers are not freed until the next garbage collection.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await sleep(20);
  }
  return process.memoryUsage().heapUsed;
}

/** Counts live objects. With only a few hundred sends, the heap size would be too noisy. */
async function countObjects(): Promise<SendsReport['liveObjects']> {
  const { snapshot, nodes, strings } = JSON.parse(await text(getHeapSnapshot())) as {
    snapshot: { meta: { node_fields: string[]; node_types: [string[]] } };
    nodes: number[];
    strings: string[];
  };
  const { node_fields: fields, node_types } = snapshot.meta;
  const objectType = node_types[0].indexOf('object');
  const counts = { AbortSignal: 0, Timeout: 0, WeakRef: 0 };
  for (let offset = 0; offset < nodes.length; offset += fields.length) {
    const name = strings[nodes[offset + fields.indexOf('name')] ?? 0] ?? '';
    if (nodes[offset] === objectType && name in counts) counts[name as keyof typeof counts] += 1;
  }
  return counts;
}

await sendMany(Math.min(sends / 10, 2_000));
const heap = [await readHeap()];
for (let tenth = 0; tenth < 10; tenth += 1) {
  await sendMany(sends / 10);
  heap.push(await readHeap());
}
const report: SendsReport = {
  node: process.version,
  failed,
  heap,
  liveObjects: await countObjects(),
};
console.log(JSON.stringify(report));
agent.destroy();
receiver.close();
