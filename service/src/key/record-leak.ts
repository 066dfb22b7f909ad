import type { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import type { KeyPrincipal } from './principal.ts';

/** The longest allowed origin, in characters. */
const mostOfOrigin = 260;
/** A page that goes on sending a leaked key makes one entry in this time. */
const onceInMs = 60_000;

/** Makes the recorder of secret keys that were used in a browser. */
export function createRecordLeak(database: Database, audit: AuditLog, clock: Clock) {
  const recorded = new Map<string, number>();
  return async (principal: KeyPrincipal, origin: string, requestId: string): Promise<void> => {
    const nowMs = clock.nowMs();
    const last = recorded.get(principal.keyId);
    if (last !== undefined && nowMs - last < onceInMs) return;
    recorded.set(principal.keyId, nowMs);
    const { accountId, environment, keyId } = principal;
    const page = origin.slice(0, mostOfOrigin);
    await database.query(
      'UPDATE keys SET leaked_at = $3, leaked_to = $4 WHERE account_id = $1 AND id = $2',
      [accountId, keyId, new Date(nowMs), page],
    );
    await audit.record(
      { queries: database, scope: { accountId, environment }, actor: keyId, requestId },
      { action: 'key.used_in_browser', targetId: keyId, after: { origin: page } },
    );
  };
}
