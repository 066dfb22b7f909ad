import type { Logger } from 'pino';
import type { DecisionState } from '../decision/decision-state.ts';
import type { Environment } from '../access/principal.ts';
import { type Clock, formatInstant } from '../platform/time.ts';
import { addToRollups, createCount } from '../history/rollup.ts';
import type { Database } from '../store/database.ts';
import type { Tracing } from '../trace/tracing.ts';

interface ExpiredDecision extends Pick<
  DecisionState,
  'id' | 'placement' | 'creativeId' | 'sourceId' | 'advertiserId' | 'houseAdId' | 'rewardReason'
> {
  environment: Environment;
}

interface Deps {
  database: Database;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
  /** Called when rewards have expired, with the ids of their decisions. */
  onChange(decisionIds: string[]): void;
}

const batchSize = 500;

/**
 * Expires pending rewards once their late window has ended, and counts them by the reason they were pending. Safe to
 * run in several processes, because each reward is counted by the process that updates it.
 */
export async function expireRewards(
  database: Database,
  clock: Clock,
  onFailure: (accountId: string, error: unknown) => void = (_, error) => {
    throw error;
  },
): Promise<string[]> {
  const expiredIds: string[] = [];
  // Skips an account after a failure, so that a locked row doesn't delay other accounts.
  const failedAccounts = new Set<string>();
  for (;;) {
    const nowMs = clock.nowMs();
    const dueRewards = await database.query<{ account_id: string; id: string }>(
      `SELECT account_id, id FROM decisions WHERE reward_state = 'pending' AND late_at < $1
          AND account_id NOT IN (SELECT jsonb_array_elements_text($3::text::jsonb))
        ORDER BY account_id, id LIMIT $2`,
      [formatInstant(nowMs), batchSize, JSON.stringify([...failedAccounts])],
    );
    for (const accountId of new Set(dueRewards.map((row) => row.account_id))) {
      const ids = dueRewards.filter((row) => row.account_id === accountId).map(({ id }) => id);
      try {
        expiredIds.push(...(await expireBatch(database, accountId, ids, nowMs)));
      } catch (error) {
        failedAccounts.add(accountId);
        onFailure(accountId, error);
      }
    }
    if (dueRewards.length < batchSize) return expiredIds;
  }
}

/** Expires pending rewards. Ignores rewards that have since been settled. */
function expireBatch(
  database: Database,
  accountId: string,
  ids: readonly string[],
  nowMs: number,
): Promise<string[]> {
  return database.transaction(async (queries) => {
    const rows = await queries.query<ExpiredDecision>(
      `UPDATE decisions SET reward_state = 'expired', settled_at = $1
        WHERE account_id = $2 AND environment IN ('sandbox', 'live') AND id IN (SELECT jsonb_array_elements_text($3::text::jsonb))
          AND id BETWEEN $4 AND $5 AND reward_state = 'pending'
        RETURNING environment, id, placement, creative_id AS "creativeId", source_id AS "sourceId",
          advertiser_id AS "advertiserId", house_ad_id AS "houseAdId", reward_reason AS "rewardReason"`,
      [formatInstant(nowMs), accountId, JSON.stringify(ids), ids[0], ids.at(-1)],
    );
    const counts = rows.map((row) =>
      createCount(row, row, nowMs, 'rewards_expired', row.rewardReason ?? undefined),
    );
    await addToRollups(queries, accountId, counts);
    return rows.map(({ id }) => id);
  });
}

/** Expires rewards every minute until `stop` is called. */
export function startExpiry(deps: Deps): { stop(): void } {
  const { database, clock, log, tracing, onChange } = deps;
  const work = { name: 'upkeep expired rewards' };
  const timer = setInterval(() => {
    tracing
      .run(work, () =>
        expireRewards(database, clock, (accountId, error) =>
          log.warn({ err: error, accountId }, "could not expire an account's rewards"),
        ),
      )
      .then(
        (ids) => ids.length > 0 && onChange(ids),
        (error: unknown) => log.error({ err: error }, 'could not expire rewards'),
      );
  }, 60_000);
  return { stop: () => clearInterval(timer) };
}
