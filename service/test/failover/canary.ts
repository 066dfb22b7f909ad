import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** Requests decisions from one process at a constant rate, without waiting for responses (open-loop load). */
export interface Canary {
  /** The ids of all returned decisions. */
  acknowledged: ReadonlySet<string>;
  /**
   * Summarizes the requests that ended after `sinceMs`, a `performance.now()` timestamp. Call this only after the
   * process has recovered.
   */
  read(sinceMs: number): Interruption;
  stop(): Promise<void>;
}

/** How a failure affected the requests. Times are in milliseconds since the failure. */
export interface Interruption {
  /** When the last failed or slow request ended. Undefined if there was none. */
  lastBadMs: number | undefined;
  /** When the next successful request ended: 0 if no request failed or was slow, undefined if none has succeeded yet. */
  recoveredMs: number | undefined;
  succeeded: number;
  rejected: number;
  withoutResponse: number;
  /** The number of successful requests that took more than a second. */
  slow: number;
  slowestMs: number;
}

interface Outcome {
  sentAtMs: number;
  endedAtMs: number;
  /** Undefined if there was no response. */
  status: number | undefined;
}

const intervalMs = 100;
/** The SDK's request timeout. */
const timeoutMs = 10_000;
const slowMs = 1_000;

export function startCanary(url: string, key: string): Canary {
  const dispatcher = new Agent({ connections: 200 });
  const outcomes: Outcome[] = [];
  const acknowledged = new Set<string>();
  const pending = new Set<Promise<void>>();
  let isStopped = false;

  const send = async (): Promise<void> => {
    const sentAtMs = performance.now();
    let status: number | undefined;
    try {
      const response = await request(`${url}/v1/decisions`, {
        method: 'POST',
        dispatcher,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ placement: 'revive', user_ref: randomUUID() }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { id } = (await response.body.json()) as { id?: string };
      status = response.statusCode;
      if (status === 200 && id !== undefined) acknowledged.add(id);
    } catch {
      // The request timed out or the connection failed.
    }
    outcomes.push({ sentAtMs, endedAtMs: performance.now(), status });
  };
  const running = (async () => {
    while (!isStopped) {
      const sending = send();
      pending.add(sending);
      void sending.then(() => pending.delete(sending));
      await sleep(intervalMs);
    }
  })();

  return {
    acknowledged,
    read(sinceMs) {
      const recentOutcomes = outcomes
        .filter(({ endedAtMs }) => endedAtMs >= sinceMs)
        .toSorted((a, b) => a.endedAtMs - b.endedAtMs);
      const durations = recentOutcomes.map(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs);
      const isSlow = ({ sentAtMs, endedAtMs }: Outcome): boolean => endedAtMs - sentAtMs > slowMs;
      const isFailedOrSlow = (outcome: Outcome): boolean =>
        outcome.status !== 200 || isSlow(outcome);
      const lastBadIndex = recentOutcomes.findLastIndex(isFailedOrSlow);
      const count = (predicate: (outcome: Outcome) => boolean): number =>
        recentOutcomes.filter(predicate).length;
      const getMsSinceFailure = (outcome: Outcome | undefined): number | undefined =>
        outcome && Math.round(outcome.endedAtMs - sinceMs);
      return {
        lastBadMs: getMsSinceFailure(recentOutcomes[lastBadIndex]),
        recoveredMs: lastBadIndex < 0 ? 0 : getMsSinceFailure(recentOutcomes[lastBadIndex + 1]),
        succeeded: count(({ status }) => status === 200),
        rejected: count(({ status }) => status !== 200 && status !== undefined),
        withoutResponse: count(({ status }) => status === undefined),
        slow: count((outcome) => outcome.status === 200 && isSlow(outcome)),
        slowestMs: Math.round(Math.max(0, ...durations)),
      };
    },
    async stop() {
      isStopped = true;
      await running;
      await Promise.all(pending);
      await dispatcher.destroy();
    },
  };
}
