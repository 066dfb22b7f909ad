import type { RequestOptions } from '../options.ts';
import type { Deadline } from '../platform/clock.ts';
import type { NoAd, ReadyAd } from './decisions.ts';

/** A request for an ad that is on its way. */
export interface Flight {
  done: Promise<NoAd | undefined>;
  waiters: number;
  abort: AbortController;
}

/** The state of one placement. */
export interface Slot {
  /**
   * A preloaded ad; once it is no longer fresh, the service is asked again before it is shown. `asked` is
   * the {@link keyOf} the options that it was asked for with.
   */
  ready?: ReadyAd & { asked: string; freshness: Deadline };
  /** Why there was no ad, for which segments (as JSON), and how long that holds. */
  refused?: { noAd: NoAd; segments: string | undefined; end: Deadline };
  /** By the {@link keyOf} their options. */
  flights: Map<string, Flight>;
}

/** The same for options that make the same request. */
export const keyOf = ({ customData, segments }: RequestOptions): string =>
  JSON.stringify([customData, segments]);

/** The preloaded ad, unless it has expired. */
export const unexpired = ({ ready }: Slot): Slot['ready'] =>
  ready?.expiry.passed() ? undefined : ready;
