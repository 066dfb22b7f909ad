import { isOutOfOrder } from '../reward/watch-time.ts';
import type { InvalidReason, RecordedEvent } from '../decision/decision-state.ts';

/**
 * Why no player can have made these events; undefined when one can.
 *
 * How many ads were asked for is no reason: whoever has a public key can ask in any player's name, and
 * banners below the fold are never seen.
 */
export const checkTraffic = (
  requiredMs: number | null,
  events: readonly RecordedEvent[],
): InvalidReason | undefined =>
  isOutOfOrder(events, requiredMs ?? 0) ? 'impossible_order' : undefined;
