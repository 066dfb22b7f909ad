import type { AttemptResult } from './sender.ts';

/** Whether an event was delivered. Any status other than 2xx is a failure. */
export const isDelivered = ({ status }: AttemptResult): boolean =>
  status !== undefined && status >= 200 && status < 300;

/** A delivery's state after an attempt. A `pending` delivery is retried after `delayMs`. */
export type NextState = { state: 'delivered' | 'failed' } | { state: 'pending'; delayMs: number };

/**
 * Returns a delivery's state after `attempts` attempts. A delivery is not retried after a 410 Gone response.
 *
 * @param isPassing whether the endpoint handles other requests well. The next attempt probably reaches a replica that
 * works, so it is made soon. The last attempt keeps its delay, in case the event itself is the cause.
 */
export function nextState(
  result: AttemptResult,
  attempts: number,
  random: number,
  isPassing = false,
): NextState {
  if (isDelivered(result)) return { state: 'delivered' };
  const usualMs = result.status === 410 ? undefined : retryDelayMs(attempts, random);
  const delayMs =
    isPassing && usualMs !== undefined && attempts <= passingAttempts
      ? Math.min(usualMs, Math.round(passingDelayMs * (0.8 + 0.4 * random)))
      : usualMs;
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', delayMs: Math.max(delayMs, result.retryAfterMs ?? 0) };
}

/** The delay before each attempt, in seconds. The first attempt is made immediately. */
const delaysS = [0, 5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 86_400];

/** The delay after each of the first attempts that failed while the endpoint handled other requests well. */
const passingDelayMs = 2_000;
/**
 * Number of first attempts with that delay. With one of three replicas hanging, one event in 20,000 has failed nine times
 * by then, within two minutes. The last retry comes a day later.
 */
const passingAttempts = 8;

/** Maximum number of attempts per delivery. */
export const maxAttempts = delaysS.length;

/**
 * Returns the delay before the next attempt after `attempts` failures, or undefined if there are no attempts left. The
 * delay has ±20% jitter, so that deliveries that failed at the same time are not all retried at the same time.
 *
 * @param random in [0, 1)
 */
export function retryDelayMs(attempts: number, random: number): number | undefined {
  const delayS = delaysS[attempts];
  return delayS === undefined ? undefined : Math.round(delayS * 1_000 * (0.8 + 0.4 * random));
}
