import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';

/** Ends rewards that stayed unconfirmed until their late window was over; hands back how many. */
export async function expireRewards(database: Database, clock: Clock): Promise<number> {
  const rows = await database.query(
    `UPDATE decisions SET reward_state = 'expired', settled_at = $1
      WHERE reward_state = 'pending' AND late_at < $1 RETURNING id`,
    [new Date(clock.nowMs())],
  );
  return rows.length;
}

/** Does so every minute until it is stopped. */
export function startExpiry(database: Database, clock: Clock, log: Logger): { stop(): void } {
  const timer = setInterval(() => {
    expireRewards(database, clock).catch((error: unknown) =>
      log.error({ err: error }, 'rewards could not be expired'),
    );
  }, 60_000);
  return { stop: () => clearInterval(timer) };
}
