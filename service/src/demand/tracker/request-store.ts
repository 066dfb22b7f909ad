import type { DemandRecord } from '../offer.ts';
import type { MacroValues } from '../vast/macros.ts';
import type { Environment } from '../../access/principal.ts';
import { formatInstant, hourMs } from '../../platform/time.ts';
import type { Queries } from '../../store/database.ts';
import { buildArrays, type Column, unnest } from '../../store/unnest.ts';

/** A leased request. */
export interface DueRequest {
  accountId: string;
  environment: Environment;
  decisionId: string;
  /** The event and a position, such as `impression/0`. Unique within the decision. */
  tracker: string;
  host: string;
  /** Identifies the lease. */
  attempt: number;
  atLeastOnce: boolean;
  /** Encrypted client data. Null if the request discloses nothing about the player. */
  client: string | null;
  isLate: boolean;
  isInvalid: boolean;
  /** The URL, with macros. Null if the decision no longer exists. */
  url: string | null;
  macros: MacroValues | null;
  headerProfile: NonNullable<DemandRecord['chosen']>['headerProfile'] | null;
  limitAdTracking: boolean | null;
  placement: string | null;
  /** When the impression was verified. */
  servedAt: Date | null;
  creativeId: string | null;
  sourceId: string | null;
  advertiserId: string | null;
}

export interface Claim {
  accountId: string;
  /** How many more requests may be leased for each of these hosts. */
  hosts: readonly { host: string; free: number }[];
  /** How many requests may be leased for every other host. */
  perHost: number;
  /** Maximum number of requests across all hosts. */
  limit: number;
  leaseMs: number;
  /** The id of the oldest decision that may have requests. Older partitions are not read. */
  sinceId: string;
  nowMs: number;
}

/** Whether any account has pending requests. */
export async function hasPending(queries: Queries, sinceId: string): Promise<boolean> {
  const [row] = await queries.query<{ any: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM tracker_requests WHERE state = 'pending' AND decision_id >= $1) AS any`,
    [sinceId],
  );
  return row?.any === true;
}

/** Lists the accounts with due requests. Makes one lookup per account, regardless of how long its queues are. */
export async function listAccounts(
  queries: Queries,
  sinceId: string,
  nowMs: number,
): Promise<string[]> {
  const rows = await queries.query<{ account_id: string }>(
    `SELECT account_id FROM accounts WHERE EXISTS (SELECT 1 FROM tracker_requests AS request
      WHERE request.account_id = accounts.account_id AND state = 'pending' AND next_at <= $2
        AND decision_id >= $1)`,
    [sinceId, formatInstant(nowMs)],
  );
  return rows.map((row) => row.account_id);
}

const pending = `account_id = $1 AND state = 'pending' AND decision_id >= $2`;

/**
 * Leases an account's due requests, round-robin across hosts. A dead host may have a backlog of hundreds of thousands
 * of requests, which must not slow down other hosts. The recursion therefore jumps from host to host in the index of
 * pending requests and reads only the head of each queue. (Citus runs recursive queries only within one account.)
 * `OFFSET 0` and `ANY (ARRAY(…))` make the planner look up rows by primary key, even without statistics. With a join,
 * the planner would scan all of the week's rows.
 *
 * A request waits until earlier requests for its decision have reached the same host. The order of requests to
 * different hosts doesn't matter. If a lease has expired, the process that held it may have died after sending the
 * request. Such a request is leased again only if it must be made at least once.
 *
 * The primary key is used to find earlier requests for the same decision. With the condition `state = 'pending'`, the
 * planner would use the index of pending requests and read the host's whole queue for each request. For 70,000
 * requests, this takes 10 s instead of 0.2 s.
 */
const claim = `WITH RECURSIVE queues AS (
    (SELECT host FROM tracker_requests WHERE ${pending} ORDER BY host LIMIT 1)
    UNION ALL
    SELECT following.host FROM queues CROSS JOIN LATERAL (
      SELECT host FROM tracker_requests WHERE ${pending} AND host > queues.host ORDER BY host LIMIT 1) AS following
  ), head AS (
    SELECT due.*, row_number() OVER (PARTITION BY queues.host
        ORDER BY due.next_at, due.decision_id, due.place, due.tracker) AS turn
    FROM queues
    LEFT JOIN (SELECT unnest($3::text[]) AS host, unnest($4::integer[]) AS free) AS room ON room.host = queues.host
    CROSS JOIN LATERAL (
      SELECT decision_id, tracker, place, next_at FROM tracker_requests AS request
      WHERE ${pending} AND host = queues.host AND next_at <= $8::timestamptz
        AND (lease_until IS NULL OR (at_least_once AND lease_until <= $8::timestamptz))
        AND NOT EXISTS (SELECT 1 FROM tracker_requests AS earlier
          WHERE earlier.account_id = $1 AND earlier.decision_id = request.decision_id
            AND earlier.host = request.host AND earlier.place < request.place
            AND earlier.state NOT IN ('sent', 'failed', 'late') AND NOT earlier.reached OFFSET 0)
      ORDER BY next_at
      LIMIT coalesce(room.free, $5::integer)) AS due
  ), chosen AS (
    SELECT decision_id, tracker FROM head ORDER BY turn, next_at LIMIT $6::integer
  ), leased AS (
    UPDATE tracker_requests AS request
      SET lease_until = $8::timestamptz + $7::float8 * interval '1 millisecond', attempt = attempt + 1
      FROM chosen
      WHERE request.account_id = $1 AND request.decision_id = ANY (ARRAY(SELECT decision_id FROM chosen))
        AND request.decision_id = chosen.decision_id AND request.tracker = chosen.tracker
        AND request.decision_id >= $2 AND state NOT IN ('sent', 'failed', 'late') AND next_at <= $8::timestamptz
        AND (lease_until IS NULL OR (at_least_once AND lease_until <= $8::timestamptz))
      RETURNING request.*, split_part(request.tracker, '/', 1) AS event, split_part(request.tracker, '/', 2) AS position)
  SELECT leased.account_id AS "accountId", leased.environment, leased.decision_id AS "decisionId", leased.tracker,
    leased.host, leased.attempt, leased.at_least_once AS "atLeastOnce", leased.client,
    leased.late_at <= $8::timestamptz AS "isLate", decisions.invalid_reason IS NOT NULL AS "isInvalid",
    CASE event WHEN 'notice' THEN demand #>> ARRAY['notices', position, 'url']
      WHEN 'burl' THEN demand #>> '{chosen,trackers,burl}'
      WHEN 'progress' THEN demand #>> ARRAY['chosen', 'trackers', 'progress', position, 'url']
      ELSE demand #>> ARRAY['chosen', 'trackers', 'byEvent', event, position] END AS url,
    demand #> '{chosen,trackers,macros}' AS macros, demand #>> '{chosen,headerProfile}' AS "headerProfile",
    (demand #> '{chosen,limitAdTracking}')::boolean AS "limitAdTracking", decisions.placement,
    decisions.served_at AS "servedAt",
    decisions.creative_id AS "creativeId", decisions.source_id AS "sourceId", decisions.advertiser_id AS "advertiserId"
  FROM leased
  LEFT JOIN LATERAL (SELECT demand FROM decision_demand
    WHERE account_id = $1 AND decision_id = leased.decision_id AND decision_id >= $2 OFFSET 0) AS demands ON true
  LEFT JOIN LATERAL (SELECT * FROM decisions
    WHERE account_id = $1 AND environment = leased.environment AND id = leased.decision_id AND id >= $2 OFFSET 0) AS decisions ON true
  ORDER BY leased.next_at, leased.decision_id, leased.place, leased.tracker`;

export const claimRequests = (
  queries: Queries,
  { accountId, hosts, perHost, limit, leaseMs, sinceId, nowMs }: Claim,
): Promise<DueRequest[]> =>
  queries.query<DueRequest>(claim, [
    accountId,
    sinceId,
    hosts.map(({ host }) => host),
    hosts.map(({ free }) => free),
    perHost,
    limit,
    leaseMs,
    formatInstant(nowMs),
  ]);

/** The outcome of a leased request. A `pending` request is retried after `delayMs`. */
export type Outcome =
  | { state: 'sent'; status: number }
  | { state: 'failed'; reason: FailureReason; status?: number }
  | { state: 'late' }
  | { state: 'pending'; reached: boolean; delayMs: number; status?: number };

export type FailureReason =
  | 'killed'
  | 'invalid_traffic'
  | 'blocked_address'
  | 'status'
  | 'timeout'
  | 'connection'
  | 'interrupted'
  | 'unreadable';

export interface FinishedRequest {
  request: DueRequest;
  outcome: Outcome;
  /** Unix milliseconds. */
  atMs: number;
}

const columns: readonly Column<FinishedRequest>[] = [
  { name: 'decision_id', type: 'text', read: ({ request }) => request.decisionId },
  { name: 'tracker', type: 'text', read: ({ request }) => request.tracker },
  { name: 'attempt', type: 'integer', read: ({ request }) => request.attempt },
  { name: 'environment', type: 'text', read: ({ request }) => request.environment },
  { name: 'placement', type: 'text', read: ({ request }) => request.placement ?? '' },
  { name: 'creative_id', type: 'text', read: ({ request }) => request.creativeId ?? '' },
  { name: 'source_id', type: 'text', read: ({ request }) => request.sourceId ?? '' },
  { name: 'advertiser_id', type: 'text', read: ({ request }) => request.advertiserId ?? '' },
  { name: 'hour', type: 'timestamptz', read: ({ atMs }) => Math.floor(atMs / hourMs) * hourMs },
  { name: 'state', type: 'text', read: ({ outcome }) => outcome.state },
  {
    name: 'reason',
    type: 'text',
    read: ({ outcome }) => (outcome.state === 'failed' ? outcome.reason : null),
  },
  {
    name: 'status',
    type: 'integer',
    read: ({ outcome }) => ('status' in outcome ? outcome.status : null),
  },
  {
    name: 'reached',
    type: 'boolean',
    read: ({ outcome }) => outcome.state !== 'pending' || outcome.reached,
  },
  {
    name: 'next_at',
    type: 'timestamptz',
    // A request keeps its place in the queue if it is retried immediately.
    read: ({ outcome, atMs }) =>
      outcome.state === 'pending' && outcome.delayMs > 0 ? atMs + outcome.delayMs : null,
  },
];

const dimensions = 'environment, hour, placement, creative_id, source_id, advertiser_id';
const countEnded = `INSERT INTO rollup_deltas (account_id, ${dimensions}, house_ad_id, metric, reason, count)`;

/**
 * Records the outcomes of an account's requests, and counts final outcomes. Ignores requests whose lease was lost, so
 * that each request is counted once. In the UPDATE, Citus doesn't allow the form `CASE a WHEN b`.
 */
const record = `WITH ended AS (
    SELECT * FROM (SELECT ${unnest(columns, 3)}) AS given),
  recorded AS (
    UPDATE tracker_requests AS request
      SET state = ended.state, reason = ended.reason, status = coalesce(ended.status, request.status),
        reached = request.reached OR ended.reached, lease_until = NULL,
        client = CASE WHEN ended.state = 'pending' THEN request.client END,
        next_at = coalesce(ended.next_at, request.next_at)
      FROM ended
      WHERE request.account_id = $1 AND request.decision_id = ANY ($2) AND request.decision_id = ended.decision_id
        AND request.tracker = ended.tracker AND request.attempt = ended.attempt
        AND request.state NOT IN ('sent', 'failed', 'late')
      RETURNING ended.*)
  ${countEnded}
    SELECT $1, ${dimensions}, '', 'trackers_' || state, coalesce(reason, ''), count(*) FROM recorded
      WHERE state <> 'pending' GROUP BY ${dimensions}, state, reason`;

export async function recordEnded(
  queries: Pick<Queries, 'query'>,
  accountId: string,
  items: readonly FinishedRequest[],
): Promise<void> {
  const ids = items.map(({ request }) => request.decisionId);
  await queries.query(record, [accountId, ids, ...buildArrays(columns, items)]);
}

/** Maximum number of requests to end in one statement, which holds row locks until it finishes. */
const maxSwept = 1_000;

/**
 * Ends two kinds of requests in all accounts: late requests, and interrupted requests, whose process died before
 * recording the outcome. Interrupted requests may have been sent, so they are not sent again, unless they must be made
 * at least once.
 */
const sweep = `WITH chosen AS (
    SELECT account_id, decision_id, tracker, late_at <= $3::timestamptz AS is_late FROM tracker_requests
      WHERE state = 'pending' AND decision_id >= $1 AND (lease_until <= $3::timestamptz AND NOT at_least_once
        OR late_at <= $3::timestamptz AND (lease_until IS NULL OR lease_until <= $3::timestamptz))
      LIMIT ${maxSwept}),
  ended AS (
    UPDATE tracker_requests AS request SET client = NULL, lease_until = NULL,
        state = CASE WHEN is_late THEN 'late' ELSE 'failed' END,
        reason = CASE WHEN is_late THEN NULL ELSE 'interrupted' END
      FROM chosen
      WHERE request.account_id = chosen.account_id AND request.decision_id = chosen.decision_id
        AND request.tracker = chosen.tracker AND request.decision_id >= $1
        AND state NOT IN ('sent', 'failed', 'late') AND (lease_until IS NULL OR lease_until <= $3::timestamptz)
      RETURNING request.account_id, environment, request.decision_id, state, reason),
  described AS (
    SELECT ended.account_id, ended.environment, $2::timestamptz AS hour, coalesce(placement, '') AS placement,
        coalesce(creative_id, '') AS creative_id, coalesce(source_id, '') AS source_id,
        coalesce(advertiser_id, '') AS advertiser_id, ended.state, ended.reason
      FROM ended
      LEFT JOIN decisions ON decisions.account_id = ended.account_id AND decisions.environment = ended.environment
        AND decisions.id = ended.decision_id
        AND decisions.id >= $1),
  counted AS (${countEnded}
    SELECT account_id, ${dimensions}, '', 'trackers_' || state, coalesce(reason, ''), count(*) FROM described
      GROUP BY account_id, ${dimensions}, state, reason)
  SELECT count(*)::bigint AS ended, count(*) FILTER (WHERE state = 'late')::bigint AS late FROM ended`;

/**
 * Ends late and interrupted requests. Returns how many there were of each.
 *
 * @param sinceId the id of the oldest decision that may have requests
 */
export async function sweepRequests(
  queries: Pick<Queries, 'query'>,
  sinceId: string,
  nowMs: number,
): Promise<{ late: number; interrupted: number }> {
  const totals = { late: 0, interrupted: 0 };
  const hour = formatInstant(Math.floor(nowMs / hourMs) * hourMs);
  for (;;) {
    const [row] = await queries.query<{ ended: number; late: number }>(sweep, [
      sinceId,
      hour,
      formatInstant(nowMs),
    ]);
    const { ended = 0, late = 0 } = row ?? {};
    totals.late += late;
    totals.interrupted += ended - late;
    if (ended < maxSwept) return totals;
  }
}
