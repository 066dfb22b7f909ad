import { Pool } from 'undici';

/** A measurement in which every response had the status 200. */
export interface Window {
  perSecond: number;
  /** The latency of each request, in milliseconds. */
  latencies: number[];
}

interface Target {
  url: string;
  path: string;
  key?: string;
  /** The body of the next request; undefined at the end. */
  body(): string | undefined;
  /** Concurrent requests; 64 by default. */
  connections?: number;
  /** Called with the body of each response. */
  onAnswer?(text: string): void;
}

/** No pipelining: one request at a time per connection. */
export const openPool = (url: string, connections: number): Pool =>
  new Pool(url, { connections, pipelining: 1 });

/** Sends requests for the given time. */
export async function load(
  { url, path, key, body, connections = 64, onAnswer }: Target,
  ms: number,
): Promise<Window> {
  const pool = openPool(url, connections);
  const latencies: number[] = [];
  const startedMs = performance.now();
  const send = async (): Promise<void> => {
    while (performance.now() - startedMs < ms) {
      const sentMs = performance.now();
      const sent = body();
      if (sent === undefined) return;
      const answer = await pool.request({
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent':
            'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140 Safari/537.36',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: sent,
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
      latencies.push(performance.now() - sentMs);
      onAnswer?.(text);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const seconds = (performance.now() - startedMs) / 1_000;
  await pool.close();
  return { perSecond: latencies.length / seconds, latencies };
}
