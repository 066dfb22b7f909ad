import { connect, type Socket } from 'node:net';
import type { InProcessService } from '../../../service/test/in-process.ts';
import {
  describeLatencies,
  type Finding,
  measureDecisions,
  print,
  quantile,
  sleep,
} from './measure.ts';

const connections = 5_000;
const head = 'POST /v1/decisions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
/** Connections that say nothing, stop in the request line, in the headers, and in the body with and without a key. */
const makeBeginnings = (key: string): string[] => [
  '',
  'GET /',
  'GET / HTTP/1.1\r\nHost: a\r\nX: ',
  `${head}Content-Length: 9\r\n\r\n{`,
  `${head}Authorization: Bearer ${key}\r\nContent-Length: 9\r\n\r\n{`,
];

/** Opens half-open connections, and measures how long they live and what a decision takes meanwhile. */
export async function benchConnections(running: InProcessService): Promise<Finding[]> {
  const { port, hostname } = new URL(running.url);
  await measureDecisions(running, sleep(3_000));
  const quiet = await measureDecisions(running, sleep(15_000));
  // Counted by the server: a client takes a connection that the kernel's queue had no room for as open.
  const open = new Set<Socket>();
  let accepted = 0;
  const onConnection = (socket: Socket): void => {
    accepted += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  const { server } = running.service.app;
  server.on('connection', onConnection);
  const sockets: Socket[] = [];
  const beginnings = makeBeginnings(running.keys.sandbox.publishable);
  for (let index = 0; index < connections; index += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.resume().write(beginnings[index % beginnings.length] ?? '');
    sockets.push(socket);
    while (index % 100 === 99 && accepted <= index) await sleep(1);
  }
  server.off('connection', onConnection);
  const [startedAtMs, most] = [performance.now(), open.size];
  const latencies = await measureDecisions(running, sleep(15_000));
  while (open.size > 0 && performance.now() - startedAtMs < 180_000) await sleep(100);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  for (const socket of sockets) socket.destroy();
  const p99 = quantile(latencies, 0.99);
  print(
    `${accepted} half-open connections, up to ${most} at once, the last closed after ${seconds.toFixed(1)} s`,
  );
  print(`  decisions before: ${describeLatencies(quiet)}`);
  print(`  decisions meanwhile: ${describeLatencies(latencies)}`);
  return [
    { name: 'half-open connections left', value: open.size, unit: '', bound: 0 },
    { name: 'until half-open connections are closed', value: seconds, unit: 's', bound: 130 },
    {
      name: 'p99 of decisions with half-open connections',
      value: p99 / quantile(quiet, 0.99),
      unit: '× quiet',
      bound: 1.5,
    },
  ];
}
