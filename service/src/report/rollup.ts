import { randomUUID } from 'node:crypto';
import type { Queries, Scope } from '../store/database.ts';
import { buildArrays, checkStored, type Column, forAccount, unnest } from '../store/unnest.ts';

/** Report dimensions, in addition to environment and hour. */
interface Dimensions {
  placement: string;
  creativeId: string | null;
  sourceId: string | null;
  advertiserId: string | null;
  houseAdId: string | null;
}

/** An increment of one metric, such as `filled`, `impressions`, `completes` or `rewards_earned`. */
export interface Count {
  environment: string;
  dimensions: Dimensions;
  atMs: number;
  metric: string;
  /** Amount to add (default 1). */
  increment?: number;
  /** The reason a request was not filled, a reward was not earned, or traffic was invalid. */
  reason?: string;
}

/** Returns a count that increments `metric` for a decision. */
export function createCount(
  { environment }: Pick<Scope, 'environment'>,
  dimensions: Dimensions,
  atMs: number,
  metric: string,
  reason?: string,
): Count {
  const count: Count = { environment, dimensions, atMs, metric };
  if (reason !== undefined) count.reason = reason;
  return count;
}

/** Roll-ups have one row per hour and group. */
export const hourMs = 3_600_000;

/** An increment of one row of `rollups`. */
interface Sum {
  id: string;
  environment: string;
  placement: string;
  creativeId: string;
  sourceId: string;
  advertiserId: string;
  houseAdId: string;
  metric: string;
  reason: string;
  hourMs: number;
  count: number;
}

const groupColumns: readonly Column<Sum>[] = [
  { name: 'environment', type: 'text', read: (sum) => sum.environment },
  { name: 'placement', type: 'text', read: (sum) => sum.placement },
  { name: 'creative_id', type: 'text', read: (sum) => sum.creativeId },
  { name: 'source_id', type: 'text', read: (sum) => sum.sourceId },
  { name: 'advertiser_id', type: 'text', read: (sum) => sum.advertiserId },
  { name: 'house_ad_id', type: 'text', read: (sum) => sum.houseAdId },
  { name: 'metric', type: 'text', read: (sum) => sum.metric },
  { name: 'reason', type: 'text', read: (sum) => sum.reason },
  { name: 'hour', type: 'timestamptz', read: (sum) => sum.hourMs },
];
/** The columns of a {@link Sum} in `rollup_deltas`. */
export const sumColumns: readonly Column<Sum>[] = [
  // The id isn't set by a column default, because Citus can't push down statements with volatile functions.
  { name: 'id', type: 'uuid', read: (sum) => sum.id },
  ...groupColumns,
  { name: 'count', type: 'bigint', read: (sum) => sum.count },
];
const names = groupColumns.map(({ name }) => name);
const group = names.join(', ');

/**
 * Builds a statement that inserts sums. {@link sumColumns} are bound to the parameters that start at `$first`; `$1` is
 * the account. The statement only inserts rows, so that concurrent transactions never wait for each other.
 */
export const addSums = (first: number): string =>
  `INSERT INTO rollup_deltas (account_id, id, ${group}, count) ${forAccount(unnest(sumColumns, first))}`;

const addSumsAlone = `${addSums(2)} RETURNING 1`;

/** Adds counts to one account's hourly roll-ups. Call it in the transaction that makes the counted changes. */
export async function addToRollups(
  queries: Queries,
  accountId: string,
  counts: readonly Count[],
): Promise<void> {
  if (counts.length === 0) return;
  const sums = sumCounts(counts);
  const stored = await queries.execute(addSumsAlone, [accountId, ...buildArrays(sumColumns, sums)]);
  checkStored(accountId, stored.length, sums.length);
}

/** Sums counts by hour and group. */
export function sumCounts(counts: readonly Count[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { environment, dimensions, atMs, metric, reason = '', increment = 1 } of counts) {
    const { placement, creativeId, sourceId, advertiserId, houseAdId } = dimensions;
    const hour = Math.floor(atMs / hourMs);
    const ad = `${placement} ${creativeId ?? ''} ${sourceId ?? ''} ${advertiserId ?? ''} ${houseAdId ?? ''}`;
    const key = `${hour} ${environment} ${ad} ${metric} ${reason}`;
    const sum = sums.get(key);
    if (sum) sum.count += increment;
    else
      sums.set(key, {
        id: randomUUID(),
        environment,
        placement,
        creativeId: creativeId ?? '',
        sourceId: sourceId ?? '',
        advertiserId: advertiserId ?? '',
        houseAdId: houseAdId ?? '',
        metric,
        reason,
        hourMs: hour * hourMs,
        count: increment,
      });
  }
  return [...sums.values()];
}

/**
 * Folds deltas into roll-ups in a single statement, so that readers of `rollup_counts` see each count exactly once.
 * Concurrent folds skip each other's deltas.
 *
 * The previous release updates the roll-up rows directly, so the rows must be locked in the same order as there: by
 * hour, then by the other columns, joined into one string and compared by code units.
 */
const fold = `WITH taken AS (
    DELETE FROM rollup_deltas WHERE account_id = $1 AND id = ANY(ARRAY(
      SELECT id FROM rollup_deltas WHERE account_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING ${group}, count),
  added AS (
    INSERT INTO rollups (account_id, ${group}, count)
      SELECT $1, ${group}, sum(count)::bigint FROM taken GROUP BY ${group}
        ORDER BY hour, concat_ws(' ', ${names.filter((name) => name !== 'hour').join(', ')}) COLLATE "C"
      ON CONFLICT (account_id, ${group}) DO UPDATE SET count = rollups.count + excluded.count)
  SELECT count(*)::bigint AS deltas FROM taken`;

/** Folds up to `limit` deltas of one account into its roll-ups; returns the number of deltas. */
export async function foldDeltas(
  queries: Queries,
  accountId: string,
  limit: number,
): Promise<number> {
  const [row] = await queries.query<{ deltas: number }>(fold, [accountId, limit]);
  return row?.deltas ?? 0;
}
