import type { Decision } from '../../protocol/wire.ts';
import type { RequestOptions } from '../options.ts';
import { type Clock, type Deadline, deadlineIn } from '../platform/clock.ts';
import type { NoAd, ReadyAd } from './decisions.ts';
import { loadGiven, loadMedia, requestAd, type RequestAdParts } from './request-ad.ts';

/** A request for an ad that is in flight. */
export interface InFlightRequest {
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
  inFlight: Map<string, InFlightRequest>;
}

/** The same for options that make the same request. */
export const keyOf = ({ customData, segments }: RequestOptions): string =>
  JSON.stringify([customData, segments]);

/** The preloaded ad, unless it has expired. */
export const unexpired = ({ ready }: Slot): Slot['ready'] =>
  ready?.expiry.passed() ? undefined : ready;

/** An operator's kill switch reaches a preloaded ad by asking again after this. */
const freshMs = 60_000;
/** How long a placement counts as empty where the service did not say when to ask again. */
const emptyMs = 30_000;

/** Failures on the way: nothing says that the next try fails too. */
const passing = new Set<string>(['offline', 'timeout', 'ad_blocked', 'aborted', 'error']);

/** What is to be got. */
export interface Filling {
  placement: string;
  slot: Slot;
  options: RequestOptions;
  signal: AbortSignal;
  isCurrent(): boolean;
  /** A decision that the game's own server made. */
  given: Decision | undefined;
}

/**
 * Asks for an ad and keeps it, or why there is none. An ad for a slot that is not the current one any
 * more was asked for on other terms than those of now, and is dropped.
 */
export async function fillSlot(
  parts: RequestAdParts,
  { placement, slot, options, signal, isCurrent, given }: Filling,
): Promise<NoAd | undefined> {
  const { clock } = parts;
  const lender = unexpired(slot);
  let result = await (given
    ? loadGiven(parts, placement, signal, given)
    : requestAd(parts, { placement, options, signal, previous: lender }));
  if ('creative' in result && result.creative === lender?.creative && slot.ready !== lender) {
    // The ad that lent its media was shown meanwhile, or made room for another.
    result = await loadMedia(parts, result.decision, result.expiry, signal);
  }
  if (!('creative' in result)) {
    if (isCurrent()) refuse(slot, result, clock, options);
    return result;
  }
  const asked = keyOf(options);
  // A decision that was given can't be asked for again.
  const { player } = parts.profile();
  if (isCurrent()) keep(slot, { ...result, asked, player }, clock, given ? Infinity : freshMs);
  else result.creative.destroy();
  return undefined;
}

function keep(slot: Slot, ad: ReadyAd & { asked: string }, clock: Clock, freshForMs: number): void {
  if (slot.ready && slot.ready.creative !== ad.creative) slot.ready.creative.destroy();
  delete slot.refused;
  slot.ready = { ...ad, freshness: deadlineIn(clock, freshForMs) };
}

function refuse(slot: Slot, noAd: NoAd, clock: Clock, { segments }: RequestOptions): void {
  const waitMs = noAd.retryAt && noAd.retryAt.getTime() - clock.now();
  // A preloaded ad stays for the next try.
  if (passing.has(noAd.outcome) && waitMs === undefined) return;
  slot.ready?.creative.destroy();
  delete slot.ready;
  const forMs = noAd.outcome === 'invalid_placement' ? Infinity : (waitMs ?? emptyMs);
  slot.refused = { noAd, segments: JSON.stringify(segments), end: deadlineIn(clock, forMs) };
}
