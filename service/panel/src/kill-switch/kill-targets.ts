import type { KillSwitch } from '@trueward/protocol/wire';

export type Scope = KillSwitch['scope'];

/** A placement, source or advertiser that a kill switch can stop. */
export interface KillTarget {
  scope: Scope;
  id: string;
  name: string;
  /** The target's existing kill switch, if any. */
  killSwitch: KillSwitch | undefined;
  isStopped: boolean;
}

interface NamedRecord {
  id: string;
  name: string;
}

/** Returns all targets: the stopped ones, then the others, each group sorted by name. */
export function listKillTargets(
  resources: Record<Scope, readonly NamedRecord[]>,
  killSwitches: readonly KillSwitch[],
  nowMs: number,
): KillTarget[] {
  const targets = (Object.entries(resources) as [Scope, NamedRecord[]][]).flatMap(
    ([scope, records]) =>
      deduplicate(scope, records).map(({ id, name }) => {
        // A kill switch refers to a placement by id or by name.
        const names = scope === 'placement' ? [id, name] : [id];
        const switches = killSwitches.filter(
          (killSwitch) => killSwitch.scope === scope && names.includes(killSwitch.target_id),
        );
        const activeSwitch = switches.find((killSwitch) => isOn(killSwitch, nowMs));
        return {
          scope,
          id,
          name,
          killSwitch: activeSwitch ?? switches[0],
          isStopped: activeSwitch !== undefined,
        };
      }),
  );
  return targets.toSorted(
    (a, b) => Number(b.isStopped) - Number(a.isStopped) || a.name.localeCompare(b.name),
  );
}

/** Removes duplicates, because a target on the first page can also have a kill switch. Placement names are unique. */
const deduplicate = (scope: Scope, records: readonly NamedRecord[]): NamedRecord[] => [
  ...new Map(records.map((item) => [scope === 'placement' ? item.name : item.id, item])).values(),
];

const isOn = ({ state, expires_at: expiresAt }: KillSwitch, nowMs: number): boolean =>
  state === 'on' && (expiresAt === undefined || Date.parse(expiresAt) > nowMs);

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
  { scope, id, killSwitch }: KillTarget,
  { reason, hours }: { reason: string; hours: number | undefined },
  nowMs: number,
): { path: string; method: 'POST' | 'PATCH'; body: object } {
  const expiresAt =
    hours === undefined ? undefined : new Date(nowMs + hours * hourMs).toISOString();
  const change = { state: 'on', reason };
  if (!killSwitch) {
    const body = {
      scope,
      target_id: id,
      ...change,
      ...(expiresAt ? { expires_at: expiresAt } : {}),
    };
    return { path: '/v1/kill-switches', method: 'POST', body };
  }
  const body = { ...change, expires_at: expiresAt ?? null };
  return { path: `/v1/kill-switches/${killSwitch.id}`, method: 'PATCH', body };
}
