import type { Clock } from '../platform/clock.ts';
import type { NoAd, ReadyAd } from './decisions.ts';

/** A request for an ad that is on its way. */
export interface Flight {
  done: Promise<NoAd | undefined>;
  waiters: number;
  abort: AbortController;
}

/** What is known of one placement. Times are on the monotonic clock. */
export interface Slot {
  ready?: ReadyAd & { freshUntil: number; expiresAt: number };
  refused?: { noAd: NoAd; until: number };
  flight?: Flight;
}

/** The preloaded ad, unless it is too old to be shown at all. */
export const unexpired = (slot: Slot, clock: Clock): Slot['ready'] =>
  slot.ready && clock.monotonic() < slot.ready.expiresAt ? slot.ready : undefined;
