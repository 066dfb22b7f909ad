import type { Placement } from '@trueward/protocol/wire';
import { firstIdAt } from '../platform/ids.ts';
import type { Database, Scope } from '../store/database.ts';
import type { Snapshot } from './snapshot.ts';

/** Why a player can't see an ad on a placement now, and when the player can see the next one. */
interface CapResult {
  reason: 'frequency_capped' | 'cooldown';
  retryAtMs: number;
}

/** The default of `page_reward_cap`. */
const defaultPageRewardCap = { max: 5, per_s: 86_400 } as const;

/**
 * The limits of the rewards that only an ad SDK in the page confirms. The default still limits them once the placement has
 * been archived.
 */
export const pageRewardLimits = (
  placement: Pick<Placement, 'page_reward_cap'> | undefined,
): Limits => ({
  cooldown_s: 0,
  frequency_cap: placement?.page_reward_cap ?? defaultPageRewardCap,
});

/** Whether a view that only an ad SDK in the page confirms may earn the placement's reward. */
export const paysPageAds = ({
  format,
  page_rewards: pageRewards = 'none',
}: Pick<Placement, 'format' | 'page_rewards'>): boolean =>
  format === 'rewarded' && pageRewards !== 'none';

/** A placement's limits on how often a player sees its ads. */
export type Limits = Pick<Placement, 'cooldown_s' | 'frequency_cap'>;

/** How long an impression counts toward a placement's caps, in milliseconds. 0 if the placement has no caps. */
export const capWindowMs = (placement: Limits): number =>
  1_000 * Math.max(placement.cooldown_s, placement.frequency_cap?.per_s ?? 0);

/**
 * Maximum time between a decision and its ad's impression. An ad can be shown for up to eleven minutes after its
 * decision. The rest is a safety margin.
 */
export const servedWithinMs = 900_000;

/**
 * Whether an additional rewarded impression exceeds the frequency cap or violates the cooldown. Completions can arrive
 * in any order, so later impressions count just like earlier ones. Otherwise, a player could evade the limits by
 * reporting the most recent impression first.
 */
export function exceedsCaps(
  placement: Limits,
  otherServedAtMs: readonly number[],
  servedAtMs: number,
): boolean {
  const { cooldown_s: cooldownS, frequency_cap: cap } = placement;
  if (otherServedAtMs.some((otherMs) => Math.abs(otherMs - servedAtMs) < cooldownS * 1_000))
    return true;
  if (!cap) return false;
  const times = [...otherServedAtMs, servedAtMs].toSorted((a, b) => a - b);
  return times.some((last, index) => {
    const first = times[index - cap.max];
    const isExceeded = first !== undefined && last - first < cap.per_s * 1_000;
    return isExceeded && first <= servedAtMs && servedAtMs <= last;
  });
}

/**
 * Applies the frequency cap and the cooldown to a player's verified impressions on a placement (Unix milliseconds, in
 * any order). If both block the player, returns the limit that ends later.
 */
export function checkCaps(
  placement: Limits,
  servedAtMs: readonly number[],
  nowMs: number,
): CapResult | undefined {
  if (servedAtMs.length === 0) return undefined;
  const newestFirst = servedAtMs.toSorted((a, b) => b - a);
  const limits: CapResult[] = [];
  const last = newestFirst[0];
  if (last !== undefined && last + placement.cooldown_s * 1_000 > nowMs) {
    limits.push({ reason: 'cooldown', retryAtMs: last + placement.cooldown_s * 1_000 });
  }
  const cap = placement.frequency_cap;
  // The next impression is allowed once the `max`-th most recent impression has left the window.
  const blockingAtMs = cap && newestFirst[cap.max - 1];
  if (cap && blockingAtMs !== undefined && blockingAtMs + cap.per_s * 1_000 > nowMs) {
    limits.push({ reason: 'frequency_capped', retryAtMs: blockingAtMs + cap.per_s * 1_000 });
  }
  return limits.toSorted((a, b) => b.retryAtMs - a.retryAtMs)[0];
}

/**
 * How much of a house ad's daily cap is left. Each decision reserves an impression until its ad is seen or expires.
 * However, many preloaded ads are never seen. To keep them from exhausting the cap, a reservation counts as only a
 * fraction of an impression: the estimated share of ads that are seen.
 */
export interface DailyBudget {
  /** Verified impressions during the current UTC day. */
  served: number;
  /** How many more reservations this process may make before impressions are counted again. */
  allowance: number;
  /** Reservations made by this process whose decisions have not been committed yet. */
  inFlight: number;
  /** All reservations made by this process since it started. */
  reserved: number;
}

/**
 * Reserves an impression. The caller must call the returned function once the decision has been committed or has
 * failed.
 */
export function reserve(budget: DailyBudget): () => void {
  budget.allowance -= 1;
  budget.reserved += 1;
  budget.inFlight += 1;
  return () => {
    budget.inFlight -= 1;
  };
}

const dayMs = 86_400_000;
/** Ads expire ten minutes after their decision. */
const outstandingWindowMs = 600_000;
/** The prior for the estimated share of ads that are seen: this many additional ads, all of which were seen. */
const priorCount = 20;
/** The minimum estimated share, which limits the reservations to twice the remaining impressions. */
const minSeenShare = 0.5;
/**
 * The share of the remaining impressions that one process may reserve. Several processes can count the same remaining
 * impressions at the same time. With up to four processes, the cap can be exceeded only through rounding.
 */
const sharePerProcess = 1 / 4;

interface Counts {
  servedToday: number;
  served: number;
  filled: number;
  outstanding: number;
}

/** Returns how many reservations may be made now. */
function computeAllowance(
  cap: number,
  { servedToday, served, filled, outstanding }: Counts,
  processShare: number,
): number {
  const settledCount = Math.max(0, filled - outstanding);
  const seenCount = Math.min(served, settledCount);
  const seenShare = Math.max(minSeenShare, (seenCount + priorCount) / (settledCount + priorCount));
  const available = Math.floor((cap - servedToday) / seenShare) - outstanding;
  return available <= 0 ? 0 : Math.ceil(available * processShare);
}

/** Updates `budgets` for all house ads with a daily cap in one account and environment. */
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
  // The queries may miss reservations that are in flight or are made while the queries run. These are subtracted below.
  const previousBudgets = new Map([...budgets].map(([id, budget]) => [id, { ...budget }]));
  const counts = await readCounts(database, scope, [...caps.keys()], nowMs);
  const processShare = database.connections ? sharePerProcess : 1;
  for (const [id, cap] of caps) {
    const adCounts = counts.get(id) ?? { servedToday: 0, served: 0, filled: 0, outstanding: 0 };
    const budget = budgets.get(id) ?? { served: 0, allowance: 0, inFlight: 0, reserved: 0 };
    const previous = previousBudgets.get(id) ?? budget;
    budget.served = adCounts.servedToday;
    budget.allowance =
      computeAllowance(cap, adCounts, processShare) -
      previous.inFlight -
      (budget.reserved - previous.reserved);
    budgets.set(id, budget);
  }
}

async function readCounts(
  database: Database,
  { accountId, environment }: Scope,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, Counts>> {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  // An ad that is seen between the two queries is counted twice until they run again. If the queries ran in the
  // opposite order, such an ad would be missed.
  const outstanding = await database.query<{ id: string; count: number }>(
    `SELECT reserved_ad AS id, count(*) AS count FROM decisions
      WHERE account_id = $1 AND environment = $2 AND reserved_ad = ANY($3::text[]) AND served_at IS NULL
        AND id >= $4 GROUP BY reserved_ad`,
    [accountId, environment, ids, firstIdAt('decision', nowMs - outstandingWindowMs)],
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
      const adSums = sums.filter((sum) => sum.id === id);
      const sumRows = (rows: typeof adSums): number =>
        rows.reduce((total, row) => total + row.count, 0);
      const impressions = adSums.filter(({ metric }) => metric === 'impressions');
      return [
        id,
        {
          servedToday: sumRows(impressions.filter((sum) => sum.today)),
          served: sumRows(impressions),
          filled: sumRows(adSums.filter(({ metric }) => metric === 'filled')),
          outstanding: outstanding.find((row) => row.id === id)?.count ?? 0,
        },
      ];
    }),
  );
}
