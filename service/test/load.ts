import { Pool } from 'undici';

/** The result of a measurement in which every response had the status 200. */
export interface LoadResult {
  perSecond: number;
  /** The latency of each request, in milliseconds. */
  latencies: number[];
}

interface Target {
  url: string;
  path: string;
  key?: string;
  /** Returns the body of the next request, or undefined if there is nothing left to send. */
  body(): string | undefined;
  /** The number of concurrent requests. Default: 64. */
  connections?: number;
  /** Called with the body of each response. */
  onResponse?(text: string): void;
}

/** Opens a pool of connections, each of which sends one request at a time. */
export const openPool = (url: string, connections: number): Pool =>
  new Pool(url, { connections, pipelining: 1 });

/** Sends requests for `ms` milliseconds. */
export async function load(
  { url, path, key, body, connections = 64, onResponse }: Target,
  ms: number,
): Promise<LoadResult> {
  const pool = openPool(url, connections);
  const latencies: number[] = [];
  const startedMs = performance.now();
  const send = async (): Promise<void> => {
    while (performance.now() - startedMs < ms) {
      const sentMs = performance.now();
      const requestBody = body();
      if (requestBody === undefined) return;
      const response = await pool.request({
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent':
            'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140 Safari/537.36',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: requestBody,
      });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`);
      latencies.push(performance.now() - sentMs);
      onResponse?.(text);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const seconds = (performance.now() - startedMs) / 1_000;
  await pool.close();
  return { perSecond: latencies.length / seconds, latencies };
}
