import type { Deadline } from '../platform/clock.ts';
import type { NoAd, ReadyAd } from './decisions.ts';

/** A request for an ad that is on its way. */
export interface Flight {
  done: Promise<NoAd | undefined>;
  waiters: number;
  abort: AbortController;
}

/** What is known of one placement. */
export interface Slot {
  /** A preloaded ad; once it is no longer fresh, the service is asked again before it is shown. */
  ready?: ReadyAd & { freshness: Deadline };
  /** Why there was no ad, and how long that holds. */
  refused?: { noAd: NoAd; end: Deadline };
  flight?: Flight;
}

/** The preloaded ad, unless it has expired. */
export const unexpired = ({ ready }: Slot): Slot['ready'] =>
  ready?.expiry.passed() ? undefined : ready;
