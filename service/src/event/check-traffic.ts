import { isOutOfOrder } from '../reward/watch-time.ts';
import type { RecordedEvent } from './recorded-event.ts';

/** Why traffic is invalid: it is counted, and neither billed nor rewarded. */
export type InvalidReason = 'bot' | 'impossible_order' | 'too_many_decisions';

/** How far back unseen ads count against a user, in milliseconds. */
export const unseenWithinMs = 3_600_000;

/** A game that loads ahead asks again once a minute at most, so that more is hoarding. */
const unseenLimit = 60;

interface TrafficFacts {
  requiredMs: number | null;
  events: readonly RecordedEvent[];
  /** Ads that the user was given in the hour before this one, and never saw. */
  unseen: number;
}

/** Why no player can have made these events; undefined when one can. */
export function checkTraffic({
  requiredMs,
  events,
  unseen,
}: TrafficFacts): InvalidReason | undefined {
  if (isOutOfOrder(events, requiredMs ?? 0)) return 'impossible_order';
  return unseen >= unseenLimit ? 'too_many_decisions' : undefined;
}
