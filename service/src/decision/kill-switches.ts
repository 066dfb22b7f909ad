import type { KillSwitch } from '@trueward/protocol/wire';
import { memoize } from '../platform/memoize.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The resources by which a kill switch can match an ad. A kill switch identifies a placement by its id or its name.
 */
interface KillTarget {
  placementId?: string | undefined;
  placement?: string | undefined;
  advertiserId?: string | undefined;
  sourceId?: string | undefined;
}

/** Whether any kill switch that is active at `nowMs` stops the target. */
export function isKilled(snapshot: Snapshot, target: KillTarget, nowMs: number): boolean {
  const ends = endsByTarget(snapshot.killSwitches);
  const isActive = (scope: KillSwitch['scope'], id: string | undefined): boolean =>
    id !== undefined && (ends.get(`${scope} ${id}`) ?? -Infinity) > nowMs;
  return (
    ends.size > 0 &&
    (isActive('placement', target.placementId) ||
      isActive('placement', target.placement) ||
      isActive('advertiser', target.advertiserId) ||
      isActive('source', target.sourceId))
  );
}

/** When the last switch of each target ends, because a decision asks for each of its candidates. */
const endsByTarget = memoize((killSwitches: Snapshot['killSwitches']) => {
  const ends = new Map<string, number>();
  for (const { scope, targetIds, expiresAtMs } of killSwitches)
    for (const id of targetIds) {
      const name = `${scope} ${id}`;
      ends.set(name, Math.max(expiresAtMs, ends.get(name) ?? -Infinity));
    }
  return ends;
});

/** An ad that has been decided, as it is stored. */
interface DecidedAd {
  /** The placement's name. */
  placement: string | null;
  sourceId: string | null;
  advertiserId: string | null;
}

/** Whether a kill switch stops an ad that has already been decided. */
export function isAdKilled(
  snapshot: Snapshot,
  { placement, sourceId, advertiserId }: DecidedAd,
  nowMs: number,
): boolean {
  const target = {
    placement: placement ?? undefined,
    placementId: snapshot.placements.get(placement ?? '')?.placement.id,
    sourceId: sourceId ?? undefined,
    advertiserId: advertiserId ?? undefined,
  };
  return isKilled(snapshot, target, nowMs);
}
