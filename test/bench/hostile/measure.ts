import type { InProcessService } from '../../../service/test/in-process.ts';

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** What a part of the benchmark found. */
export interface Finding {
  name: string;
  value: number;
  unit: string;
  /** The highest value that is acceptable. */
  bound: number;
}

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? 0;

/** Requests decisions one after another, from changing users, until `until` settles. Returns the latencies. */
export async function measureDecisions(
  { url, keys }: InProcessService,
  until: Promise<unknown>,
): Promise<number[]> {
  const latencies: number[] = [];
  let isOver = false;
  until.finally(() => (isOver = true)).catch(() => undefined);
  while (!isOver) {
    const startedAtMs = performance.now();
    const response = await fetch(`${url}/v1/decisions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys.live.publishable}`,
        origin: 'http://127.0.0.1',
        'content-type': 'application/json',
        'x-forwarded-for': `198.51.100.${latencies.length % 250}`,
      },
      body: JSON.stringify({ placement: 'revive', user_ref: `user-${latencies.length}` }),
    });
    await response.arrayBuffer();
    if (response.status !== 200)
      throw new Error(`A decision was answered with ${response.status}.`);
    latencies.push(performance.now() - startedAtMs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return latencies;
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Describes a list of latencies. */
export const describeLatencies = (latencies: readonly number[]): string =>
  `${latencies.length} decisions, p50 ${quantile(latencies, 0.5).toFixed(1)} ms, p99 ${quantile(latencies, 0.99).toFixed(1)} ms`;
