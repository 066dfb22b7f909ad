import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import type { KeyPrincipal } from './principal.ts';
import type { AuditLog } from '../store/audit-log.ts';

/** Records when keys were last used, flushed periodically: a write per request would cost more than the request. */
interface KeyUse {
  touch(principal: KeyPrincipal): void;
  /** Flushes the rest. */
  stop(): Promise<void>;
}

const flushIntervalMs = 10_000;

export function startKeyUse(database: Database, clock: Clock, log: Logger): KeyUse {
  let used = new Map<string, { accountId: string; atMs: number }>();

  const flush = async (): Promise<void> => {
    if (used.size === 0) return;
    const rows = [...used].map(([id, { accountId, atMs }]) => ({
      account_id: accountId,
      id,
      at: new Date(atMs).toISOString(),
    }));
    used = new Map();
    await database.query(
      `UPDATE keys SET last_used_at = row.at
        FROM jsonb_to_recordset($1::text::jsonb) AS row(account_id text, id text, at timestamptz)
        WHERE keys.account_id = row.account_id AND keys.id = row.id`,
      [JSON.stringify(rows)],
    );
  };
  const flushOrLog = () =>
    flush().catch((error: unknown) => log.warn({ err: error }, 'could not record key usage'));
  const timer = setInterval(() => void flushOrLog(), flushIntervalMs);
  timer.unref();

  return {
    touch({ accountId, keyId }) {
      used.set(keyId, { accountId, atMs: clock.nowMs() });
    },
    async stop() {
      clearInterval(timer);
      await flushOrLog();
    },
  };
}

/** The longest allowed origin, in characters. */
const maxOriginLength = 260;
/** A page that keeps sending a leaked key adds one audit record per interval. */
const leakIntervalMs = 60_000;

/** Creates the recorder for secret keys that were used in a browser. */
export function createRecordLeak(database: Database, audit: AuditLog, clock: Clock) {
  const recorded = new Map<string, number>();
  return async (principal: KeyPrincipal, origin: string, requestId: string): Promise<void> => {
    const nowMs = clock.nowMs();
    const last = recorded.get(principal.keyId);
    if (last !== undefined && nowMs - last < leakIntervalMs) return;
    recorded.set(principal.keyId, nowMs);
    const { accountId, environment, keyId } = principal;
    const page = origin.slice(0, maxOriginLength);
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
