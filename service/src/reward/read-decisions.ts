import { servedWithinMs } from '../decision/caps.ts';
import { firstIdAt } from '../platform/ids.ts';
import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';
import type { AdView } from './watch-time.ts';
import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';
import { parseTimeline } from './timeline.ts';

/** Maximum time from a decision to the end of its ad view. Events are accepted for at most seven days. */
const adViewEndsWithinMs = 8 * 86_400_000;

/*
 * Lookups by id are prepared statements, whose plans are cached. For a list of ids, a plan cached at the start of a
 * week, when the partition is nearly empty, would still scan all of the account's rows later in that week. Therefore,
 * these statements look up one id at a time (LATERAL; OFFSET 0 prevents flattening). Their plans use the index
 * regardless of the table's size.
 */

/** Selects a time as Unix milliseconds, which are cheaper to format and parse than a date. */
const selectMs = (column: string, name: string): string =>
  `round(date_part('epoch', ${column}) * 1000) AS "${name}"`;

const selectDecision = `SELECT id, placement, format, media_format AS "mediaFormat", creative_id AS "creativeId",
    advertiser_id AS "advertiserId", source_id AS "sourceId", house_ad_id AS "houseAdId",
    user_ref AS "userRef", viewer, custom_data AS "customData", reward, required_ms AS "requiredMs",
    evidence, simulate, invalid_reason AS "invalidReason", reward_state AS "rewardState",
    reward_reason AS "rewardReason", ${selectMs('issued_at', 'issuedAtMs')},
    ${selectMs('expires_at', 'expiresAtMs')}, ${selectMs('late_at', 'lateAtMs')},
    ${selectMs('served_at', 'servedAtMs')}, ${selectMs('settled_at', 'settledAtMs')}
  FROM decisions WHERE account_id = $1 AND environment = $2 AND status = 'filled' AND id = requested.requested_id
  OFFSET 0`;
const lookUpEach = (ids: string, query: string): string =>
  `SELECT one.* FROM unnest(${ids}::text[]) AS requested(requested_id) CROSS JOIN LATERAL (${query}) AS one`;
const selectDecisions = lookUpEach('$3', selectDecision);
const selectDecisionsForUpdate = lookUpEach('$3', `${selectDecision} FOR UPDATE`);

/** Reads filled decisions. If `lock` is set, locks them until the transaction ends. */
export async function readDecisions(
  queries: Queries,
  { accountId, environment }: Scope,
  ids: string[],
  { lock }: { lock: boolean },
): Promise<DecisionState[]> {
  if (ids.length === 0) return [];
  // Locks are acquired in the same order everywhere, to avoid deadlocks.
  const params = [accountId, environment, ids.toSorted()];
  return queries.execute<DecisionState>(lock ? selectDecisionsForUpdate : selectDecisions, params);
}

const selectTimelines = lookUpEach(
  '$2',
  `SELECT decision_id AS "decisionId", events FROM timelines
    WHERE account_id = $1 AND decision_id = requested.requested_id OFFSET 0`,
);

/**
 * Reads the events recorded for decisions. They determine which impressions count and which rewards are earned, and
 * which reported events are duplicates.
 *
 * @throws TimelineError if a stored timeline is malformed.
 */
export async function readEvents(
  queries: Queries,
  accountId: string,
  decisionIds: string[],
): Promise<Map<string, RecordedEvent[]>> {
  const recordedEvents = new Map<string, RecordedEvent[]>(decisionIds.map((id) => [id, []]));
  if (decisionIds.length === 0) return recordedEvents;
  const timelines = await queries.execute<{ decisionId: string; events: string }>(selectTimelines, [
    accountId,
    decisionIds,
  ]);
  for (const { decisionId, events } of timelines)
    recordedEvents.set(decisionId, parseTimeline(decisionId, events));
  return recordedEvents;
}

/** An ad view that earned a reward. */
export interface RewardedAdView extends AdView {
  viewer: string;
  decisionId: string;
}

/*
 * Queries by player are not prepared, so they are planned on each call. Whether the index on ids or the index on
 * players is faster depends on the number of rows in the week's partition.
 */

/** Reads the ad views since `sinceMs` that earned these players a reward. */
export async function readAdViews(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  sinceMs: number,
): Promise<RewardedAdView[]> {
  if (viewers.length === 0) return [];
  return queries.query<RewardedAdView>(
    `SELECT viewer, id AS "decisionId", ${selectMs('watch_from', 'fromMs')}, ${selectMs('watch_to', 'toMs')},
        ${selectMs('issued_at', 'issuedAtMs')}, ${selectMs('settled_at', 'receivedAtMs')}, required_ms AS "requiredMs",
        coalesce(watch_offset_ms, 0) AS "offsetMs"
      FROM decisions WHERE account_id = $1 AND environment = $2 AND viewer = ANY($3::text[])
        AND watch_to > $4 AND id >= $5`,
    [
      accountId,
      environment,
      viewers,
      formatInstant(sinceMs),
      firstIdAt('decision', sinceMs - adViewEndsWithinMs),
    ],
  );
}

/** An ad that earned a reward. */
export interface RewardedAd {
  decisionId: string;
  viewer: string;
  placement: string;
  /** Whether an ad SDK in the page has shown the ad. */
  isInPage: boolean;
  atMs: number;
}

/** Reads the players' rewarded ads with a verified impression between `fromMs` and `toMs`. */
export async function readRewardedAds(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  [fromMs, toMs]: [number, number],
): Promise<RewardedAd[]> {
  if (viewers.length === 0) return [];
  return queries.query<RewardedAd>(
    `SELECT id AS "decisionId", viewer, placement, media_format = 'page' AS "isInPage",
        ${selectMs('served_at', 'atMs')}
      FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = ANY($3::text[])
        AND served_at > $4 AND served_at < $5 AND id >= $6 AND reward_state = 'earned'`,
    [
      accountId,
      environment,
      viewers,
      formatInstant(fromMs),
      formatInstant(toMs),
      firstIdAt('decision', fromMs - servedWithinMs),
    ],
  );
}
