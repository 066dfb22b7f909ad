import type { HouseAd, KillSwitch } from '@trueward/protocol/wire';
import { parseInstant } from '../platform/time.ts';
import { throwFieldErrors } from '../platform/domain-error.ts';
import type { ResourceKind, ResourceKinds, Stored } from './resource.ts';

/*
 * What a document means at a time. Decisions, the API, the panel and webhook events all use these functions, so they
 * agree even while a stored document has not been updated yet.
 */

/**
 * Parses a time.
 *
 * @param absent the result for a missing time
 * @param invalid the result for an invalid time; choose the safe value, which hides the ad or keeps the kill switch on
 */
const parseTime = (text: string | undefined, absent: number, invalid: number): number =>
  text === undefined ? absent : (parseInstant(text) ?? invalid);

/** Returns when a kill switch stops applying, in Unix milliseconds: `-Infinity` if it is off. */
export const endsApplyingAtMs = ({
  state,
  expires_at: expiresAt,
}: Pick<KillSwitch, 'state' | 'expires_at'>): number =>
  state === 'on' ? parseTime(expiresAt, Infinity, Infinity) : -Infinity;

/** Returns when a house ad may run, if it is active: from `startsAtMs`, until just before `endsAtMs`. */
export const readSchedule = ({
  starts_at: startsAt,
  ends_at: endsAt,
}: Pick<HouseAd, 'starts_at' | 'ends_at'>): { startsAtMs: number; endsAtMs: number } => ({
  startsAtMs: parseTime(startsAt, -Infinity, Infinity),
  endsAtMs: parseTime(endsAt, Infinity, -Infinity),
});

function describePhase(houseAd: HouseAd, nowMs: number): NonNullable<HouseAd['phase']> {
  const { startsAtMs, endsAtMs } = readSchedule(houseAd);
  if (nowMs >= endsAtMs) return 'ended';
  if (houseAd.status === 'paused') return 'paused';
  return nowMs < startsAtMs ? 'scheduled' : 'running';
}

/** Returns the document as the API shows it at `nowMs`. */
export function toEffective<K extends ResourceKind>(
  kind: K,
  document: ResourceKinds[K],
  nowMs: number,
): ResourceKinds[K] {
  if (kind === 'killSwitch') {
    const killSwitch = document as KillSwitch;
    const state = endsApplyingAtMs(killSwitch) > nowMs ? 'on' : 'off';
    return { ...killSwitch, state } as ResourceKinds[K];
  }
  if (kind === 'houseAd') {
    const houseAd = document as HouseAd;
    return { ...houseAd, phase: describePhase(houseAd, nowMs) } as ResourceKinds[K];
  }
  return document;
}

/**
 * Makes sure that a kill switch that is turned on stops its target: removes an expiry from an earlier use, which has
 * passed.
 *
 * @param before the document before the change; undefined for a new object
 * @throws DomainError when the change itself sets an expiry that has passed.
 */
export function settleChange<K extends ResourceKind>(
  kind: K,
  before: Stored<K> | undefined,
  after: Stored<K>,
  nowMs: number,
): Stored<K> {
  if (kind !== 'killSwitch') return after;
  const killSwitch = after as Stored<'killSwitch'>;
  if (killSwitch.state === 'off' || endsApplyingAtMs(killSwitch) > nowMs) return after;
  const { expires_at: expiresAt, ...rest } = killSwitch;
  if (before === undefined || (before as Stored<'killSwitch'>).expires_at !== expiresAt)
    throwFieldErrors([
      { pointer: '/expires_at', message: 'must be in the future for a kill switch that is on' },
    ]);
  return rest as unknown as Stored<K>;
}
