import type { Placement } from '@trueward/protocol/wire';

/** Why a user sees no more ads here for now, and until when. */
export interface Capped {
  reason: 'frequency_capped' | 'cooldown';
  retryAtMs: number;
}

/** How far back verified impressions matter to this placement, in milliseconds; 0: not at all. */
export function capWindowMs(placement: Placement): number {
  return 1_000 * Math.max(placement.cooldown_s, placement.frequency_cap?.per_s ?? 0);
}

/**
 * Applies the frequency cap and the cooldown to a user's verified impressions of a placement
 * (unix milliseconds, in any order). When both hold, the one that ends later is the answer.
 */
export function checkCaps(
  placement: Placement,
  servedAtMs: readonly number[],
  nowMs: number,
): Capped | undefined {
  const newestFirst = servedAtMs.toSorted((a, b) => b - a);
  const found: Capped[] = [];
  const last = newestFirst[0];
  if (last !== undefined && last + placement.cooldown_s * 1_000 > nowMs) {
    found.push({ reason: 'cooldown', retryAtMs: last + placement.cooldown_s * 1_000 });
  }
  const cap = placement.frequency_cap;
  // Once the max-th newest has left the window, there is room for one more.
  const blocking = cap && newestFirst[cap.max - 1];
  if (cap && blocking !== undefined && blocking + cap.per_s * 1_000 > nowMs) {
    found.push({ reason: 'frequency_capped', retryAtMs: blocking + cap.per_s * 1_000 });
  }
  return found.toSorted((a, b) => b.retryAtMs - a.retryAtMs)[0];
}
