import { BoundedMap } from '../../platform/bounded-map.ts';
import type { Logger } from 'pino';
import type { Clock } from '../../platform/time.ts';
import type { Database } from '../../store/database.ts';

/** Records when creatives were last offered by their sources. */
export interface LastOffers {
  /**
   * Records that a creative was offered. Does nothing if the creative's last recorded offer is less than 12 hours old.
   */
  record(accountId: string, creativeId: string): void;
  stop(): Promise<void>;
}

interface Deps {
  database: Database;
  clock: Pick<Clock, 'nowMs'>;
  log: Pick<Logger, 'warn'>;
}

const flushMs = 60_000;
/**
 * Minimum time between two recorded offers of the same creative. Unoffered creatives are kept for days, so this
 * precision is sufficient.
 */
const repeatMs = 43_200_000;
const maxRecorded = 100_000;

/**
 * Buffers offers for a minute, so that decisions don't wait for a write. If a crash loses the buffer, each creative's
 * next offer is recorded instead.
 */
export function startLastOffers({ database, clock, log }: Deps): LastOffers {
  /** When each creative's last offer was recorded, oldest first. */
  const recordedAtMs = new BoundedMap<string, number>(maxRecorded);
  /** Ids of creatives to flush, by account. */
  let pending = new Map<string, Set<string>>();

  const flush = async (): Promise<void> => {
    const batch = pending;
    pending = new Map();
    for (const [accountId, ids] of batch) {
      try {
        await database.query(
          'UPDATE creative_origins SET offered_at = $3 WHERE account_id = $1 AND creative_id = ANY ($2)',
          [accountId, [...ids], new Date(clock.nowMs())],
        );
      } catch (error) {
        for (const id of ids) recordedAtMs.delete(id);
        log.warn({ err: error, accountId }, 'could not record offers of external creatives');
      }
    }
  };
  let flushing = Promise.resolve();
  const timer = setInterval(() => {
    flushing = flushing.then(flush);
  }, flushMs);
  timer.unref();

  return {
    record(accountId, creativeId) {
      const nowMs = clock.nowMs();
      if (nowMs - (recordedAtMs.get(creativeId) ?? -Infinity) < repeatMs) return;
      recordedAtMs.set(creativeId, nowMs);
      const ids = pending.get(accountId) ?? new Set();
      pending.set(accountId, ids.add(creativeId));
    },
    async stop() {
      clearInterval(timer);
      await flushing.then(flush);
    },
  };
}
