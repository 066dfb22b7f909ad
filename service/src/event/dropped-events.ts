import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Scope } from '../resource/scope.ts';

/** How often the events that devices gave up are logged, for each account and environment. */
const logEveryMs = 60_000;
/** Accounts and environments that are kept apart; beyond that the earliest is forgotten. */
const mostScopes = 1_000;

/** What the SDK calls the reasons; anything else comes from something else. */
const reasons = ['too_many', 'too_large', 'too_old', 'unreadable'];

interface Reported {
  loggedAtMs: number;
  devices: number;
  dropped: Record<string, number>;
}

/** Told of the events that a device gave up. */
export type NoteDropped = (scope: Scope, dropped: Readonly<Record<string, number>>) => void;

/** Sums up what devices gave up, and logs it once a minute: a line for each report would let clients fill the log. */
export function createDropLog(
  log: Pick<Logger, 'warn'>,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): NoteDropped {
  const scopes = new Map<string, Reported>();
  return ({ accountId, environment }, dropped) => {
    const name = `${accountId} ${environment}`;
    const nowMs = monotonicMs();
    const sum = scopes.get(name) ?? { loggedAtMs: -Infinity, devices: 0, dropped: {} };
    scopes.set(name, sum);
    const [earliest] = scopes.keys();
    if (scopes.size > mostScopes && earliest !== undefined) scopes.delete(earliest);

    sum.devices += 1;
    for (const [given, count] of Object.entries(dropped)) {
      const reason = reasons.includes(given) ? given : 'other';
      sum.dropped[reason] = (sum.dropped[reason] ?? 0) + count;
    }
    if (nowMs - sum.loggedAtMs < logEveryMs) return;
    log.warn(
      { accountId, environment, reports: sum.devices, dropped: sum.dropped },
      'devices gave up events',
    );
    Object.assign(sum, { loggedAtMs: nowMs, devices: 0, dropped: {} });
  };
}
