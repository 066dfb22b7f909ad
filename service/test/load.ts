import { Pool } from 'undici';

/** The result of a load run in which every response had status 200. */
export interface LoadResult {
  perSecond: number;
  /** Each request's latency in milliseconds. */
  latencies: number[];
}

interface Target {
  url: string;
  path: string;
  key?: string;
  /** Returns the next request body, or undefined if there is nothing left to send. */
  body(): string | undefined;
  /** The number of concurrent requests. Default: 64. */
  connections?: number;
  /** Called with each response body. */
  onResponse?(text: string): void;
}

/** Opens a connection pool. Each connection sends one request at a time. */
export const openPool = (url: string, connections: number): Pool =>
  new Pool(url, { connections, pipelining: 1 });

/** Sends requests for `ms` milliseconds. */
export async function load(
  { url, path, key, body, connections = 64, onResponse }: Target,
  ms: number,
): Promise<LoadResult> {
  const pool = openPool(url, connections);
  const latencies: number[] = [];
  const startedAtMs = performance.now();
  const send = async (): Promise<void> => {
    while (performance.now() - startedAtMs < ms) {
      const sentAtMs = performance.now();
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
      latencies.push(performance.now() - sentAtMs);
      onResponse?.(text);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await pool.close();
  return { perSecond: latencies.length / seconds, latencies };
}
