import { ProblemError } from '../problems/problem.ts';

/** How many requests may wait at a time; absent: only all together are limited. */
export interface WaitLimits {
  /** With one key. */
  key: number;
  /** From one address, with a publishable key. */
  address: number;
}

/** What a waiting request counts against. */
export interface Waiting {
  decisionId: string;
  keyId: string;
  /** Absent for requests with a secret key, which come from the customer's server. */
  address: string | undefined;
}

/** Bounds the requests that wait for a reward. */
interface ConcurrentWaits {
  /**
   * Counts one more, until the returned function is called.
   *
   * @throws ProblemError `rate_limited` when too many wait already.
   */
  enter(waiting: Waiting): () => void;
}

/** One player waits for a decision, in one tab. The rest is slack for requests that end late. */
const perDecision = 4;
const inAll = 10_000;
const retryAfterS = 5;

export function createConcurrentWaits(limits: WaitLimits | undefined): ConcurrentWaits {
  const counts = new Map<string, number>();
  const most = (limit: number | undefined): number => limit ?? Infinity;
  return {
    enter({ decisionId, keyId, address }) {
      type Count = [name: string, limit: number, what: string];
      const counted: Count[] = [
        ['all', inAll, ''],
        [`decision ${decisionId}`, perDecision, ' for this decision'],
        [`key ${keyId}`, most(limits?.key), ' with this key'],
        ...(address === undefined
          ? []
          : [[`address ${address}`, most(limits?.address), ' from this address'] satisfies Count]),
      ];
      for (const [name, limit, what] of counted) {
        if ((counts.get(name) ?? 0) < limit) continue;
        throw new ProblemError(
          'rate_limited',
          `${limit} requests wait${what} already; ask without wait_s, or wait for fewer at a time.`,
          { retryAfterS },
        );
      }
      for (const [name] of counted) counts.set(name, (counts.get(name) ?? 0) + 1);
      let isCounted = true;
      return () => {
        if (!isCounted) return;
        isCounted = false;
        for (const [name] of counted) {
          const left = (counts.get(name) ?? 0) - 1;
          if (left > 0) counts.set(name, left);
          else counts.delete(name);
        }
      };
    },
  };
}
