import { ProblemError } from '../problem.ts';

/** How many requests may wait at a time; absent: only all together are limited. */
export interface WaitLimits {
  /** With one key. */
  key: number;
  /** From one address, with a publishable key. */
  address: number;
}

/** Whom a waiting request is counted by. */
export interface Waiting {
  decisionId: string;
  keyId: string;
  /** Absent for a server of the customer. */
  address: string | undefined;
}

/** Counts the requests whose answers are held. */
export interface ConcurrentWaits {
  /**
   * Counts one more, until what is handed back is called.
   *
   * @throws ProblemError `rate_limited` when too many wait already.
   */
  enter(waiting: Waiting): () => void;
}

/** A tab waits for one reward at a time, and a decision is of one player: one is enough, and some are late to end. */
const perDecision = 4;
const inAll = 10_000;
const retryAfterS = 5;

export function createConcurrentWaits(limits: WaitLimits | undefined): ConcurrentWaits {
  const counts = new Map<string, number>();
  const most = (limit: number | undefined): number => limit ?? Infinity;
  return {
    enter({ decisionId, keyId, address }) {
      const counted: [name: string, limit: number, what: string][] = [
        ['all', inAll, ''],
        [`decision ${decisionId}`, perDecision, ' for this decision'],
        [`key ${keyId}`, most(limits?.key), ' with this key'],
        ...(address === undefined
          ? []
          : [
              [`address ${address}`, most(limits?.address), ' from this address'] as [
                string,
                number,
                string,
              ],
            ]),
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
