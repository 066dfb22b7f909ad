import type { AdLimits, Decision } from '../../protocol/wire.ts';
import { isReward } from '../transport/read-reward.ts';
import { type Guard, hasShape } from '../transport/service-client.ts';
import { durationMs } from './no-ad.ts';

/** The longest time until the close button appears that a placement can have, in milliseconds. */
const maxCloseAfterMs = 120_000;

const isText = (value: unknown): boolean => typeof value === 'string';
/** JSON has no infinity, but `1e999` is parsed as such. */
const isDuration = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;
const isObject = (value: unknown): boolean => hasShape(value, {});

/** Whether these are ad rules. A request with a longer version would be refused. */
export const isLimits = (value: unknown): value is AdLimits =>
  hasShape(value, { version: '', rules: [] }) && (value as AdLimits).version.length <= 64;

/** The fields that may be absent, each with what it must be. */
const optionalFields: Partial<Record<keyof Decision, (value: unknown) => boolean>> = {
  reason: isText,
  retry_at: isText,
  next_ad_at: isObject,
  ad_rules: isLimits,
  creative: (value) => hasShape(value, { media: {} }),
  min_watch_ms: isDuration,
  close_after_ms: isDuration,
  token: isText,
};

/** Whether the body is a decision, filled or not. */
export const isDecision: Guard<Decision> = (body): body is Decision =>
  hasShape(body, { id: '', status: '', placement: '', issued_at: '', expires_at: '' });

/**
 * Returns the decision without the fields that are not what they must be. A proxy, another service or the game’s own
 * server may have written anything into them.
 */
export function readDecision(body: Decision): Decision {
  const decision = { ...body };
  for (const [name, isValid] of Object.entries(optionalFields)) {
    const field = name as keyof typeof optionalFields;
    if (!isValid(decision[field])) delete decision[field];
  }
  const { close_after_ms: closeAfterMs = 0 } = decision;
  // Otherwise, the player could not leave the ad.
  if (closeAfterMs > maxCloseAfterMs) decision.close_after_ms = maxCloseAfterMs;
  return decision;
}

/** Whether a filled decision has a time in which its ad may be shown, and a reward that can be paid if it has one. */
export const canBeShown = ({ expires_at: end, issued_at: start, reward }: Decision): boolean =>
  durationMs(start, end) > 0 && (reward === undefined || isReward(reward));
