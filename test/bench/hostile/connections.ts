import { connect, type Socket } from 'node:net';
import type { InProcessService } from '../../../service/test/in-process.ts';
import { type Finding, measureDecisions, print, quantile, sleep } from './measure.ts';

const connections = 5_000;
const path = 'POST /v1/decisions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
/** Connections that say nothing, stop in the request line, in the headers, and in the body. */
const beginnings = [
  '',
  'GET /',
  'GET / HTTP/1.1\r\nHost: a\r\nX: ',
  `${path}Content-Length: 9\r\n\r\n{`,
];

/** Opens half-open connections, and measures how long they live and what a decision takes meanwhile. */
export async function benchConnections(running: InProcessService): Promise<Finding[]> {
  const { port, hostname } = new URL(running.url);
  const sockets: Socket[] = [];
  let closed = 0;
  for (let index = 0; index < connections; index += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).once('close', () => (closed += 1));
    socket.resume().write(beginnings[index % beginnings.length] ?? '');
    sockets.push(socket);
    if (index % 100 === 99) await sleep(1);
  }
  const startedAtMs = performance.now();
  const latencies = await measureDecisions(running, sleep(5_000));
  while (closed < connections && performance.now() - startedAtMs < 180_000) await sleep(100);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  for (const socket of sockets) socket.destroy();
  const p99 = quantile(latencies, 0.99);
  print(`${connections} half-open connections: ${closed} closed after ${seconds.toFixed(1)} s`);
  print(`  decisions meanwhile: p99 ${p99.toFixed(1)} ms of ${latencies.length}`);
  return [
    { name: 'connections left after that', value: connections - closed, unit: '', bound: 0 },
    { name: 'until half-open connections are closed', value: seconds, unit: 's', bound: 130 },
    { name: 'p99 of decisions with half-open connections', value: p99, unit: 'ms', bound: 100 },
  ];
}
