import type { Placement } from '@trueward/protocol/wire';
import { firstIdAt } from '../platform/ids.ts';
import type { Database, Scope } from '../store/database.ts';
import type { Snapshot } from './snapshot.ts';

/** Why a player gets no ad from a placement at the moment, and until when. */
interface Capped {
  reason: 'frequency_capped' | 'cooldown';
  retryAtMs: number;
}

/** How long an impression counts toward a placement's caps, in milliseconds; 0 if the caps are off. */
export const capWindowMs = (placement: Pick<Placement, 'cooldown_s' | 'frequency_cap'>): number =>
  1_000 * Math.max(placement.cooldown_s, placement.frequency_cap?.per_s ?? 0);

/** An upper bound for the time from a decision to its impression; ads may be shown for eleven minutes. */
export const servedWithinMs = 900_000;

/**
 * Whether one more rewarded impression exceeds the cap or violates the cooldown. Later impressions count as well
 * as earlier ones: completions arrive in any order, and reporting the latest first must not help.
 */
export function exceedsCaps(
  placement: Placement,
  otherServedAtMs: readonly number[],
  servedAtMs: number,
): boolean {
  const { cooldown_s: cooldownS, frequency_cap: cap } = placement;
  if (otherServedAtMs.some((other) => Math.abs(other - servedAtMs) < cooldownS * 1_000))
    return true;
  if (!cap) return false;
  const times = [...otherServedAtMs, servedAtMs].toSorted((a, b) => a - b);
  return times.some((last, index) => {
    const first = times[index - cap.max];
    const tooMany = first !== undefined && last - first < cap.per_s * 1_000;
    return tooMany && first <= servedAtMs && servedAtMs <= last;
  });
}

/**
 * Applies the frequency cap and the cooldown to a player's verified impressions of a placement (unix milliseconds,
 * in any order). If both apply, the one that ends later is returned.
 */
export function checkCaps(
  placement: Placement,
  servedAtMs: readonly number[],
  nowMs: number,
): Capped | undefined {
  if (servedAtMs.length === 0) return undefined;
  const newestFirst = servedAtMs.toSorted((a, b) => b - a);
  const found: Capped[] = [];
  const last = newestFirst[0];
  if (last !== undefined && last + placement.cooldown_s * 1_000 > nowMs) {
    found.push({ reason: 'cooldown', retryAtMs: last + placement.cooldown_s * 1_000 });
  }
  const cap = placement.frequency_cap;
  // One more is allowed when the max-th newest leaves the window.
  const blocking = cap && newestFirst[cap.max - 1];
  if (cap && blocking !== undefined && blocking + cap.per_s * 1_000 > nowMs) {
    found.push({ reason: 'frequency_capped', retryAtMs: blocking + cap.per_s * 1_000 });
  }
  return found.toSorted((a, b) => b.retryAtMs - a.retryAtMs)[0];
}

/**
 * The remainder of a house ad's daily cap. The cap is enforced by decisions: each one reserves an impression until the
 * ad is seen or expires. Reservations are weighted by the share of ads that is usually seen, so that preloaded ads
 * don't exhaust the cap.
 */
export interface DailyBudget {
  /** Verified impressions of the current UTC day. */
  served: number;
  /** How many reservations this process can make before the next count. */
  allowance: number;
  /** Reservations of this process that are not committed yet. */
  inFlight: number;
  /** Reservations made by this process since it started. */
  reserved: number;
}

/** Makes a reservation. Call the returned function when the decision is committed or has failed. */
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
const outstandingMs = 600_000;
/** The prior for the share of ads that is seen: as if this many ads had been served and all of them seen. */
const priorCount = 20;
/** The lower bound of that share, so that reservations never exceed twice the remaining impressions. */
const minSeenShare = 0.5;
/**
 * Several processes may count the same remaining impressions at the same time, so each uses only a part of them.
 * With up to four processes, the cap is exceeded by rounding only.
 */
const partPerProcess = 1 / 4;

interface Counted {
  servedToday: number;
  served: number;
  filled: number;
  outstanding: number;
}

/** How many reservations can be made now. Pure. */
function allowanceOf(
  cap: number,
  { servedToday, served, filled, outstanding }: Counted,
  part: number,
): number {
  const settled = Math.max(0, filled - outstanding);
  const seen = Math.min(served, settled);
  const share = Math.max(minSeenShare, (seen + priorCount) / (settled + priorCount));
  const available = Math.floor((cap - servedToday) / share) - outstanding;
  return available <= 0 ? 0 : Math.ceil(available * part);
}

/** Updates `budgets` for all house ads of one account and environment that have a daily cap. */
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
  // The count may miss reservations that are in flight now or made meanwhile, so both are subtracted.
  const before = new Map([...budgets].map(([id, each]) => [id, { ...each }]));
  const counts = await count(database, scope, [...caps.keys()], nowMs);
  const part = database.connections ? partPerProcess : 1;
  for (const [id, cap] of caps) {
    const counted = counts.get(id) ?? { servedToday: 0, served: 0, filled: 0, outstanding: 0 };
    const budget = budgets.get(id) ?? { served: 0, allowance: 0, inFlight: 0, reserved: 0 };
    const then = before.get(id) ?? budget;
    budget.served = counted.servedToday;
    budget.allowance =
      allowanceOf(cap, counted, part) - then.inFlight - (budget.reserved - then.reserved);
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
  // In this order, an ad that is seen between the two queries counts twice until the next count, and is never missed.
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
