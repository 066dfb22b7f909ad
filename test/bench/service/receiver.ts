import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A webhook that arrived. */
export interface Arrival {
  path: string;
  /** Arrival time, as returned by {@link nowMs}. */
  atMs: number;
  decisionId?: string;
}

export interface Receiver {
  /**
   * The base URL. The path selects the response delay: `/0/any-name` (immediately), `/50/any-name` (after 50 ms) or
   * `/never/any-name`.
   */
  url: string;
  /** The arrivals so far, excluding those at `/never`. An arrival may take up to 20 ms to appear here. */
  arrivals: Arrival[];
  /**
   * Waits for `expected` webhooks. Resolves to the first `expected` arrivals.
   *
   * @throws Error if the webhooks do not arrive in time.
   */
  waitFor(expected: number, timeoutMs?: number): Promise<Arrival[]>;
  /** Clears the arrivals. */
  clear(): void;
  stop(): Promise<void>;
}

/** Returns the time in milliseconds, from a monotonic clock that all processes on this machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Starts a simulated customer server in a separate process, so that its CPU time is not measured. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'receiver.mjs'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const arrivals: Arrival[] = [];
  let onArrivals: () => void = () => undefined;
  child.on('message', (message: { arrivals: Arrival[] }) => {
    arrivals.push(...message.arrivals);
    onArrivals();
  });
  return {
    url,
    arrivals,
    async waitFor(expected, timeoutMs = 120_000) {
      const deadlineMs = nowMs() + timeoutMs;
      while (arrivals.length < expected) {
        const remainingMs = deadlineMs - nowMs();
        if (remainingMs <= 0)
          throw new Error(
            `Expected ${expected} webhooks within ${timeoutMs / 1_000} s, got ${arrivals.length}.`,
          );
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, remainingMs);
          onArrivals = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return arrivals.slice(0, expected);
    },
    clear() {
      arrivals.length = 0;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
