import type { Placement } from '@trueward/protocol/wire';

/** Why a user sees no more ads here for now, and until when. */
export interface Capped {
  reason: 'frequency_capped' | 'cooldown';
  retryAtMs: number;
}

/** An impression is made while its ad may be shown, which is eleven minutes after the decision at most. */
export const servedWithinMs = 900_000;

/** How far back verified impressions matter to this placement, in milliseconds; 0: not at all. */
export function capWindowMs(placement: Placement): number {
  return 1_000 * Math.max(placement.cooldown_s, placement.frequency_cap?.per_s ?? 0);
}

/**
 * Whether one more verified impression would break the cap or the cooldown, wherever in time it
 * lies: completions come in any order, and claiming the latest first must not help.
 */
export function exceedsCaps(
  placement: Placement,
  otherServedAtMs: readonly number[],
  servedAtMs: number,
): boolean {
  const { cooldown_s: cooldownS, frequency_cap: cap } = placement;
  if (otherServedAtMs.some((other) => Math.abs(other - servedAtMs) < cooldownS * 1_000))
    return true;
  if (!cap) return false;
  const times = [...otherServedAtMs, servedAtMs].toSorted((a, b) => a - b);
  return times.some((last, index) => {
    const first = times[index - cap.max];
    const tooMany = first !== undefined && last - first < cap.per_s * 1_000;
    return tooMany && first <= servedAtMs && servedAtMs <= last;
  });
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
  if (servedAtMs.length === 0) return undefined;
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
