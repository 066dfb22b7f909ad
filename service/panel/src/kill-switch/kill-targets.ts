import type { KillSwitch } from '@trueward/protocol/wire';
import type { Shown } from '../api/data-provider.ts';

export type Scope = KillSwitch['scope'];

/** A placement, source or advertiser that a kill switch can stop. */
export interface KillTarget {
  scope: Scope;
  id: string;
  name: string;
  /** A kill switch of the target that is off, if any. */
  idleSwitch: Shown<KillSwitch> | undefined;
  /** The kill switches that stop the target. Each of them alone stops it. */
  activeSwitches: readonly Shown<KillSwitch>[];
}

interface NamedRecord {
  id: string;
  name: string;
}

/** Returns all targets: the stopped ones, then the others, each group sorted by name. */
export function listKillTargets(
  resources: Record<Scope, readonly NamedRecord[]>,
  killSwitches: readonly Shown<KillSwitch>[],
): KillTarget[] {
  const targets = (Object.entries(resources) as [Scope, NamedRecord[]][]).flatMap(
    ([scope, records]) =>
      deduplicate(scope, records).map(({ id, name }) => {
        // A kill switch refers to a placement by id or by name.
        const names = scope === 'placement' ? [id, name] : [id];
        const switches = killSwitches.filter(
          (killSwitch) => killSwitch.scope === scope && names.includes(killSwitch.target_id),
        );
        return {
          scope,
          id,
          name,
          idleSwitch: switches.find(({ state }) => state === 'off'),
          activeSwitches: switches.filter(({ state }) => state === 'on'),
        };
      }),
  );
  return targets.toSorted(
    (a, b) =>
      Number(b.activeSwitches.length > 0) - Number(a.activeSwitches.length > 0) ||
      a.name.localeCompare(b.name),
  );
}

/** Removes duplicates, because a target on the first page can also have a kill switch. Placement names are unique. */
const deduplicate = (scope: Scope, records: readonly NamedRecord[]): NamedRecord[] => [
  ...new Map(records.map((item) => [scope === 'placement' ? item.name : item.id, item])).values(),
];

/** Durations to choose from, in hours. Undefined means until the target is resumed. */
export const durations = [
  { name: 'Until resumed', hours: undefined },
  { name: '1 hour', hours: 1 },
  { name: '1 day', hours: 24 },
  { name: '1 week', hours: 7 * 24 },
] as const;

const hourMs = 3_600_000;

/** Returns the request that stops the target. */
export function buildStopRequest(
  { scope, id, idleSwitch }: KillTarget,
  { reason, hours }: { reason: string; hours: number | undefined },
  nowMs: number,
): { path: string; method: 'POST' | 'PATCH'; body: object; ifMatch?: string } {
  const expiresAt =
    hours === undefined ? undefined : new Date(nowMs + hours * hourMs).toISOString();
  const change = { state: 'on', reason };
  if (!idleSwitch) {
    const body = {
      scope,
      target_id: id,
      ...change,
      ...(expiresAt ? { expires_at: expiresAt } : {}),
    };
    return { path: '/v1/kill-switches', method: 'POST', body };
  }
  const body = { ...change, expires_at: expiresAt ?? null };
  // Stopping must not fail because someone has changed the kill switch.
  return { path: `/v1/kill-switches/${idleSwitch.id}`, method: 'PATCH', body, ifMatch: '*' };
}
