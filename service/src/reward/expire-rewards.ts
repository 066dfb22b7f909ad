import type { Logger } from 'pino';
import { countOf } from '../event/judge-decisions.ts';
import type { DecisionState } from '../event/decision-state.ts';
import type { Clock } from '../platform/clock.ts';
import { addToRollups } from '../report/rollup.ts';
import type { Environment } from '../key/key-text.ts';
import type { Database } from '../store/database.ts';

interface Expired extends Pick<
  DecisionState,
  'id' | 'placement' | 'creativeId' | 'sourceId' | 'advertiserId' | 'houseAdId' | 'rewardReason'
> {
  accountId: string;
  environment: Environment;
}

interface Parts {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Called after the commit with the decisions whose reward has ended. */
  onChange(decisionIds: string[]): void;
}

/**
 * Ends rewards that stayed unconfirmed until their late window was over, and counts them with the
 * reason for which they waited. Those that a completion holds just now are left to it.
 */
export async function expireRewards(
  database: Database,
  clock: Clock,
  limit = 500,
): Promise<string[]> {
  const nowMs = clock.nowMs();
  return database.transaction(async (queries) => {
    const rows = await queries.query<Expired>(
      `UPDATE decisions SET reward_state = 'expired', settled_at = $1
        FROM (SELECT account_id AS account, id AS decision FROM decisions
          WHERE reward_state = 'pending' AND late_at < $1
          ORDER BY account_id, id LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
        WHERE account_id = due.account AND id = due.decision AND reward_state = 'pending'
        RETURNING account_id AS "accountId", environment, id, placement, creative_id AS "creativeId",
          source_id AS "sourceId", advertiser_id AS "advertiserId", house_ad_id AS "houseAdId",
          reward_reason AS "rewardReason"`,
      [new Date(nowMs).toISOString(), limit],
    );
    // In one order everywhere, so that two processes never wait for each other.
    const sorted = rows.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
    for (const group of groupByAccount(sorted)) {
      const counts = group.map((row) =>
        countOf(row, row, nowMs, 'rewards_expired', row.rewardReason ?? undefined),
      );
      await addToRollups(queries, group[0].accountId, counts);
    }
    return rows.map(({ id }) => id);
  });
}

function groupByAccount(rows: Expired[]): [Expired, ...Expired[]][] {
  const groups = new Map<string, [Expired, ...Expired[]]>();
  for (const row of rows) {
    const group = groups.get(row.accountId);
    if (group) group.push(row);
    else groups.set(row.accountId, [row]);
  }
  return [...groups.values()];
}

/** Does so every minute until it is stopped. */
export function startExpiry({ database, clock, log, onChange }: Parts): { stop(): void } {
  const timer = setInterval(() => {
    expireRewards(database, clock).then(
      (ids) => ids.length > 0 && onChange(ids),
      (error: unknown) => log.error({ err: error }, 'rewards could not be expired'),
    );
  }, 60_000);
  return { stop: () => clearInterval(timer) };
}
