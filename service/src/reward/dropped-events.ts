import { BoundedMap } from '../platform/bounded-map.ts';
import type { Logger } from 'pino';
import type { Clock } from '../platform/time.ts';
import type { Scope } from '../store/database.ts';

/** How often dropped events are logged per account and environment. */
const logIntervalMs = 60_000;
/**
 * Maximum number of account and environment pairs for which totals are kept. If there are more, the oldest pair is
 * evicted.
 */
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
  const scopes = new BoundedMap<string, DropCounts>(maxScopes);
  return ({ accountId, environment }, dropped) => {
    const name = `${accountId} ${environment}`;
    const nowMs = monotonicMs();
    const totals = scopes.get(name) ?? { loggedAtMs: -Infinity, devices: 0, dropped: {} };
    scopes.set(name, totals);

    totals.devices += 1;
    for (const [reported, count] of Object.entries(dropped)) {
      const reason = reasons.includes(reported) ? reported : 'other';
      totals.dropped[reason] = (totals.dropped[reason] ?? 0) + count;
    }
    if (nowMs - totals.loggedAtMs < logIntervalMs) return;
    log.warn(
      { accountId, environment, reports: totals.devices, dropped: totals.dropped },
      'devices dropped events',
    );
    Object.assign(totals, { loggedAtMs: nowMs, devices: 0, dropped: {} });
  };
}
