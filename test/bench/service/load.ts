import { Pool } from 'undici';
import { percentile } from '../outbox/statistics.ts';

/** One window of requests that were all answered with 200. */
export interface Window {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  count: number;
}

interface Target {
  url: string;
  path: string;
  key?: string;
  body(): string;
}

const connections = 64;

/** Sends requests, 64 at a time, for so long. */
export async function load({ url, path, key, body }: Target, ms: number): Promise<Window> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const latencies: number[] = [];
  const startedMs = performance.now();
  const send = async (): Promise<void> => {
    while (performance.now() - startedMs < ms) {
      const sentMs = performance.now();
      const answer = await pool.request({
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: body(),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const seconds = (performance.now() - startedMs) / 1_000;
  await pool.close();
  return {
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5) ?? 0,
    p99Ms: percentile(latencies, 0.99) ?? 0,
    count: latencies.length,
  };
}
