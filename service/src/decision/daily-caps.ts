import { firstIdAt } from '../platform/ids.ts';
import type { Scope, Database } from '../store/database.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * What is left of a house ad's daily cap. The cap is enforced when the ad is handed out: each ad that was
 * handed out, has not been seen and may still be shown holds a reservation. Reservations are weighted by the
 * share of ads that is usually seen, so that preloaded ads do not use up the cap.
 */
export interface DailyBudget {
  /** Verified impressions of this UTC day. */
  served: number;
  /** How often this process may hand it out until the next count. */
  allowance: number;
  /** Handed out by this process and not committed yet. */
  inFlight: number;
  /** Handed out by this process since it started. */
  taken: number;
}

/** Makes one reservation. Call the returned function once the decision is committed or has failed. */
export function reserve(budget: DailyBudget): () => void {
  budget.allowance -= 1;
  budget.taken += 1;
  budget.inFlight += 1;
  return () => {
    budget.inFlight -= 1;
  };
}

const dayMs = 86_400_000;
/** Ads are shown within ten minutes of their decision. */
const outstandingMs = 600_000;
/** Prior for the share that is seen: as if this many ads had been handed out and all of them seen. */
const presumed = 20;
/** Lower bound of that share: outstanding ads never deliver more than twice the room that was left. */
const leastShare = 0.5;
/**
 * Several processes count the same room at the same time, so each takes only a part of it. With up to four
 * of them, only rounding makes them hand out more than the room.
 */
const partOfSeveral = 1 / 4;

interface Counted {
  servedToday: number;
  served: number;
  filled: number;
  outstanding: number;
}

/** How many more ads may be handed out now; pure. */
export function roomOf(
  cap: number,
  { servedToday, served, filled, outstanding }: Counted,
  part: number,
): number {
  const settled = Math.max(0, filled - outstanding);
  const seen = Math.min(served, settled);
  const share = Math.max(leastShare, (seen + presumed) / (settled + presumed));
  const room = Math.floor((cap - servedToday) / share) - outstanding;
  return room <= 0 ? 0 : Math.ceil(room * part);
}

/** Counts for all house ads of one account and environment that have a daily cap, and updates `budgets`. */
export async function countDailyBudgets(
  database: Database,
  scope: Scope,
  snapshot: Snapshot,
  nowMs: number,
  budgets: Map<string, DailyBudget>,
): Promise<void> {
  const caps = new Map(
    [...snapshot.placements.values()].flatMap(({ candidates }) =>
      candidates.flatMap(({ houseAd }): [string, number][] =>
        houseAd.daily_cap === undefined ? [] : [[houseAd.id, houseAd.daily_cap]],
      ),
    ),
  );
  if (caps.size === 0) return;
  // The count may or may not include what is in flight now, and misses what is handed out meanwhile: both are subtracted.
  const before = new Map([...budgets].map(([id, each]) => [id, { ...each }]));
  const counts = await count(database, scope, [...caps.keys()], nowMs);
  const part = database.connections ? partOfSeveral : 1;
  for (const [id, cap] of caps) {
    const counted = counts.get(id) ?? { servedToday: 0, served: 0, filled: 0, outstanding: 0 };
    const budget = budgets.get(id) ?? { served: 0, allowance: 0, inFlight: 0, taken: 0 };
    const then = before.get(id) ?? budget;
    budget.served = counted.servedToday;
    budget.allowance = roomOf(cap, counted, part) - then.inFlight - (budget.taken - then.taken);
    budgets.set(id, budget);
  }
}

async function count(
  database: Database,
  { accountId, environment }: Scope,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, Counted>> {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  // In this order, an ad that is seen between the two queries counts twice until the next count, but is never missed.
  const outstanding = await database.query<{ id: string; count: number }>(
    `SELECT reserved_ad AS id, count(*) AS count FROM decisions
      WHERE account_id = $1 AND environment = $2 AND reserved_ad = ANY($3::text[]) AND served_at IS NULL
        AND id >= $4 GROUP BY reserved_ad`,
    [accountId, environment, ids, firstIdAt('decision', nowMs - outstandingMs)],
  );
  const sums = await database.query<{ id: string; metric: string; today: boolean; count: number }>(
    `SELECT house_ad_id AS id, metric, hour >= $4 AS today, sum(count)::bigint AS count FROM rollup_counts
      WHERE account_id = $1 AND environment = $2 AND house_ad_id = ANY($3::text[]) AND hour >= $5
        AND metric IN ('impressions', 'filled')
      GROUP BY 1, 2, 3`,
    [accountId, environment, ids, new Date(today), new Date(today - dayMs)],
  );
  return new Map(
    ids.map((id) => {
      const own = sums.filter((sum) => sum.id === id);
      const add = (some: typeof own): number => some.reduce((total, sum) => total + sum.count, 0);
      const impressions = own.filter(({ metric }) => metric === 'impressions');
      return [
        id,
        {
          servedToday: add(impressions.filter((sum) => sum.today)),
          served: add(impressions),
          filled: add(own.filter(({ metric }) => metric === 'filled')),
          outstanding: outstanding.find((row) => row.id === id)?.count ?? 0,
        },
      ];
    }),
  );
}
