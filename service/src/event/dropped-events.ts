import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Scope } from '../store/database.ts';

/** How often dropped events are logged per account and environment. */
const logEveryMs = 60_000;
/** Maximum number of account and environment pairs with totals. If there are more, the oldest pair is evicted. */
const maxScopes = 1_000;

/** Reasons that the SDK reports. Unknown reasons are logged as `other`. */
const reasons = ['too_many', 'too_large', 'unreadable'];

interface DropCounts {
  loggedAtMs: number;
  devices: number;
  dropped: Record<string, number>;
}

/** Records how many events a device dropped, by reason. */
export type RecordDropped = (scope: Scope, dropped: Readonly<Record<string, number>>) => void;

/** Logs totals of dropped events once a minute, so that clients cannot flood the log. */
export function createDropLog(
  log: Pick<Logger, 'warn'>,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): RecordDropped {
  const scopes = new Map<string, DropCounts>();
  return ({ accountId, environment }, dropped) => {
    const name = `${accountId} ${environment}`;
    const nowMs = monotonicMs();
    const sum = scopes.get(name) ?? { loggedAtMs: -Infinity, devices: 0, dropped: {} };
    scopes.set(name, sum);
    const [oldest] = scopes.keys();
    if (scopes.size > maxScopes && oldest !== undefined) scopes.delete(oldest);

    sum.devices += 1;
    for (const [reported, count] of Object.entries(dropped)) {
      const reason = reasons.includes(reported) ? reported : 'other';
      sum.dropped[reason] = (sum.dropped[reason] ?? 0) + count;
    }
    if (nowMs - sum.loggedAtMs < logEveryMs) return;
    log.warn(
      { accountId, environment, reports: sum.devices, dropped: sum.dropped },
      'devices dropped events',
    );
    Object.assign(sum, { loggedAtMs: nowMs, devices: 0, dropped: {} });
  };
}
