import type { Clock } from '../platform/time.ts';

/** Limits how much time is spent on reading each account's configuration. */
export interface ReadBudget {
  /** How long the account's next read has to wait, in milliseconds. */
  waitMs(accountId: string): number;
  /** Counts a read that took this long. */
  charge(accountId: string, tookMs: number): void;
}

/** How much reading an account may save up, in milliseconds. Enough for the changes of a person or a deployment. */
const burstMs = 1_000;
/** The share of the time that may be spent on one account whose configuration changes all the time. */
const share = 0.1;
/** The longest wait. A change, such as a kill switch, must not wait longer however large the configuration is. */
const maxWaitMs = 2_000;

/**
 * Creates budgets, so that an account that changes its configuration all the time delays its own changes, and not the
 * decisions of other accounts.
 */
export function createReadBudget(clock: Pick<Clock, 'monotonicMs'>): ReadBudget {
  /** When each account has saved up everything again. Other accounts have. */
  const fullAtMs = new Map<string, number>();
  const missingMs = (accountId: string): number =>
    Math.max(0, (fullAtMs.get(accountId) ?? 0) - clock.monotonicMs()) * share;
  return {
    waitMs: (accountId) => Math.min(maxWaitMs, Math.max(0, missingMs(accountId) - burstMs) / share),
    charge(accountId, tookMs) {
      // Nothing saved up and the longest wait: a single slow read must not cost more than that.
      const missing = Math.min(burstMs + maxWaitMs * share, missingMs(accountId) + tookMs);
      fullAtMs.set(accountId, clock.monotonicMs() + missing / share);
    },
  };
}
