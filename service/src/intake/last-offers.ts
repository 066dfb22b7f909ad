import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';

/** Records which creatives their sources still offer. */
export interface LastOffers {
  /** Cheap: what was recorded within half a day costs a lookup. */
  note(accountId: string, creativeId: string): void;
  stop(): Promise<void>;
}

interface Deps {
  database: Database;
  clock: Pick<Clock, 'nowMs'>;
  log: Pick<Logger, 'warn'>;
}

const flushMs = 60_000;
/** Creatives are archived after days, so that half a day is exact enough. */
const repeatMs = 43_200_000;
const maxNoted = 100_000;

/** Offers are collected for a minute: a decision must not wait for a write. What a crash loses is offered again. */
export function startLastOffers({ database, clock, log }: Deps): LastOffers {
  /** When each creative was noted. Oldest first. */
  const noted = new Map<string, number>();
  /** Ids by account. */
  let waiting = new Map<string, Set<string>>();

  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = new Map();
    for (const [accountId, ids] of batch) {
      try {
        await database.query(
          'UPDATE creative_origins SET offered_at = $3 WHERE account_id = $1 AND creative_id = ANY ($2)',
          [accountId, [...ids], new Date(clock.nowMs())],
        );
      } catch (error) {
        for (const id of ids) noted.delete(id);
        log.warn({ err: error, accountId }, 'could not record which creatives are offered');
      }
    }
  };
  let flushing = Promise.resolve();
  const timer = setInterval(() => {
    flushing = flushing.then(flush);
  }, flushMs);
  timer.unref();

  return {
    note(accountId, creativeId) {
      const nowMs = clock.nowMs();
      if (nowMs - (noted.get(creativeId) ?? -Infinity) < repeatMs) return;
      noted.delete(creativeId);
      noted.set(creativeId, nowMs);
      const [oldest] = noted.keys();
      if (noted.size > maxNoted && oldest !== undefined) noted.delete(oldest);
      const ids = waiting.get(accountId) ?? new Set();
      waiting.set(accountId, ids.add(creativeId));
    },
    async stop() {
      clearInterval(timer);
      await flushing.then(flush);
    },
  };
}
