import type { KillSwitch } from '@trueward/protocol/wire';

export type Scope = KillSwitch['scope'];

/** A placement, source or advertiser that a kill switch can stop. */
export interface KillTarget {
  scope: Scope;
  id: string;
  name: string;
  /** Its existing kill switch, if any. */
  killSwitch: KillSwitch | undefined;
  isStopped: boolean;
}

interface Named {
  id: string;
  name: string;
}

/** All targets, stopped ones first. Pure. */
export function killTargets(
  things: Record<Scope, readonly Named[]>,
  killSwitches: readonly KillSwitch[],
  nowMs: number,
): KillTarget[] {
  const targets = (Object.entries(things) as [Scope, Named[]][]).flatMap(([scope, named]) =>
    uniqueByName(scope, named).map(({ id, name }) => {
      // A kill switch refers to a placement by id or by name.
      const names = scope === 'placement' ? [id, name] : [id];
      const own = killSwitches.filter(
        (each) => each.scope === scope && names.includes(each.target_id),
      );
      const on = own.find((each) => isOn(each, nowMs));
      return { scope, id, name, killSwitch: on ?? own[0], isStopped: on !== undefined };
    }),
  );
  return targets.toSorted(
    (a, b) => Number(b.isStopped) - Number(a.isStopped) || a.name.localeCompare(b.name),
  );
}

/** A target can be both on the first page and in a kill switch. Placement names are unique. */
const uniqueByName = (scope: Scope, named: readonly Named[]): Named[] => [
  ...new Map(named.map((each) => [scope === 'placement' ? each.name : each.id, each])).values(),
];

const isOn = ({ state, expires_at: expiresAt }: KillSwitch, nowMs: number): boolean =>
  state === 'on' && (expiresAt === undefined || Date.parse(expiresAt) > nowMs);

/** The durations to choose from, in hours; undefined: until resumed. */
export const durations = [
  { name: 'Until resumed', hours: undefined },
  { name: '1 hour', hours: 1 },
  { name: '1 day', hours: 24 },
  { name: '1 week', hours: 7 * 24 },
] as const;

const hourMs = 3_600_000;

/** The request that stops the target. */
export function stopRequest(
  { scope, id, killSwitch }: KillTarget,
  { reason, hours }: { reason: string; hours: number | undefined },
  nowMs: number,
): { path: string; method: 'POST' | 'PATCH'; body: object } {
  const expiresAt =
    hours === undefined ? undefined : new Date(nowMs + hours * hourMs).toISOString();
  const wanted = { state: 'on', reason };
  if (!killSwitch) {
    const body = {
      scope,
      target_id: id,
      ...wanted,
      ...(expiresAt ? { expires_at: expiresAt } : {}),
    };
    return { path: '/v1/kill-switches', method: 'POST', body };
  }
  const body = { ...wanted, expires_at: expiresAt ?? null };
  return { path: `/v1/kill-switches/${killSwitch.id}`, method: 'PATCH', body };
}
