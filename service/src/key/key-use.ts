import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import type { KeyPrincipal } from './principal.ts';

/** Remembers when keys were last used, and writes it down now and then: a write per request would cost more than the request. */
export interface KeyUse {
  touch(principal: KeyPrincipal): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

const everyMs = 10_000;

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
    flush().catch((error: unknown) => log.warn({ err: error }, 'the use of keys was not written'));
  const timer = setInterval(() => void flushOrLog(), everyMs);
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
