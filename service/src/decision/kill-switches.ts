import type { Snapshot } from './snapshot.ts';

/** What a kill switch can be aimed at; a placement goes by its id or its name. */
export interface KillTarget {
  placementId?: string;
  placement?: string;
  advertiserId?: string | undefined;
  sourceId?: string | undefined;
}

/** Whether a kill switch that is on stops the target at this time. */
export function isKilled(snapshot: Snapshot, target: KillTarget, nowMs: number): boolean {
  return snapshot.killSwitches.some(({ scope, target_id: id, expiresAtMs }) => {
    if (expiresAtMs <= nowMs) return false;
    if (scope === 'placement') return id === target.placementId || id === target.placement;
    return id === (scope === 'advertiser' ? target.advertiserId : target.sourceId);
  });
}
