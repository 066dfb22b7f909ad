import { ProblemError } from '../problems/problem.ts';

/** Limits on concurrent long-polling requests; absent: only the total is limited. */
export interface WaitLimits {
  /** Per key. */
  key: number;
  /** Per IP, with a publishable key. */
  address: number;
}

/** What a long-polling request counts against. */
export interface WaitSubject {
  decisionId: string;
  keyId: string;
  /** The client's IP; absent with a secret key, since that is the customer's server. */
  address: string | undefined;
}

/** Bounds the number of long-polling requests. */
interface ConcurrentWaits {
  /**
   * Counts a request until the returned function is called.
   *
   * @throws ProblemError `rate_limited` when a limit is reached.
   */
  enter(waiting: WaitSubject): () => void;
}

/** One player waits for a decision, in one tab; the rest allows for requests that end late. */
const perDecision = 4;
const maxTotal = 10_000;
const retryAfterS = 5;

export function createConcurrentWaits(limits: WaitLimits | undefined): ConcurrentWaits {
  const counts = new Map<string, number>();
  const most = (limit: number | undefined): number => limit ?? Infinity;
  return {
    enter({ decisionId, keyId, address }) {
      type Count = [name: string, limit: number, what: string];
      const counted: Count[] = [
        ['all', maxTotal, ''],
        [`decision ${decisionId}`, perDecision, ' for this decision'],
        [`key ${keyId}`, most(limits?.key), ' with this key'],
        ...(address === undefined
          ? []
          : [[`address ${address}`, most(limits?.address), ' from this IP'] satisfies Count]),
      ];
      for (const [name, limit, what] of counted) {
        if ((counts.get(name) ?? 0) < limit) continue;
        throw new ProblemError(
          'rate_limited',
          `${limit} requests are already waiting${what}; omit wait_s, or send fewer such requests at a time.`,
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
