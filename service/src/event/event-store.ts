import { servedWithinMs } from '../decision/caps.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Queries } from '../store/database.ts';
import type { Scope } from '../resource/scope.ts';
import type { Watch } from '../reward/watch-time.ts';
import type { DecisionState } from './decision-state.ts';
import type { RecordedEvent } from './recorded-event.ts';

/** The first and the last: by them alone it can be told which partitions are of interest. */
const boundsOf = (ids: readonly string[]): [string, string] => {
  const sorted = ids.toSorted();
  return [sorted[0] ?? '', sorted.at(-1) ?? ''];
};
/** A watch ends before it is too late to tell of it, which is seven days at most. */
const watchEndsWithinMs = 8 * 86_400_000;

/** Ids as one parameter, so that the text of the query stays the same. */
const among = (parameter: string) =>
  `IN (SELECT jsonb_array_elements_text(${parameter}::text::jsonb))`;
const iso = (ms: number): string => new Date(ms).toISOString();

/** Makes the others that grant to the same users wait until this transaction ends. */
export async function lockViewers(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  nowMs: number,
): Promise<void> {
  if (viewers.length === 0) return;
  await queries.query(
    `INSERT INTO viewers (account_id, environment, viewer, seen_at)
      SELECT $1, $2, viewer, $3 FROM jsonb_array_elements_text($4::text::jsonb) AS viewer ORDER BY viewer
      ON CONFLICT (account_id, environment, viewer) DO UPDATE SET seen_at = excluded.seen_at`,
    [accountId, environment, iso(nowMs), JSON.stringify(viewers)],
  );
}

/** Reads filled decisions and holds them until the transaction ends. */
export async function lockDecisions(
  queries: Queries,
  { accountId, environment }: Scope,
  ids: string[],
): Promise<DecisionState[]> {
  interface Row extends Omit<
    DecisionState,
    'issuedAtMs' | 'expiresAtMs' | 'lateAtMs' | 'servedAtMs' | 'settledAtMs'
  > {
    issued_at: Date;
    expires_at: Date;
    late_at: Date;
    served_at: Date | null;
    settled_at: Date | null;
  }
  const rows = await queries.query<Row>(
    `SELECT id, placement, format, media_format AS "mediaFormat", creative_id AS "creativeId",
        advertiser_id AS "advertiserId", source_id AS "sourceId", house_ad_id AS "houseAdId",
        user_ref AS "userRef", viewer, custom_data AS "customData", reward, required_ms AS "requiredMs",
        simulate, invalid_reason AS "invalidReason", issued_at, expires_at, late_at, served_at, reward_state AS "rewardState",
        reward_reason AS "rewardReason", receipt, settled_at
      FROM decisions WHERE account_id = $1 AND environment = $2 AND status = 'filled' AND id ${among('$3')}
        AND id BETWEEN $4 AND $5
      ORDER BY id FOR UPDATE`,
    [accountId, environment, JSON.stringify(ids), ...boundsOf(ids)],
  );
  return rows.map(({ issued_at, expires_at, late_at, served_at, settled_at, ...row }) => ({
    ...row,
    issuedAtMs: issued_at.getTime(),
    expiresAtMs: expires_at.getTime(),
    lateAtMs: late_at.getTime(),
    servedAtMs: served_at?.getTime() ?? null,
    settledAtMs: settled_at?.getTime() ?? null,
  }));
}

/** Stores events and hands back the keys (`decision/event`) of those that were new. */
export async function insertEvents(
  queries: Queries,
  accountId: string,
  events: readonly RecordedEvent[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set();
  const rows = events.map((event) => ({
    decision_id: event.decisionId,
    id: event.id,
    type: event.type,
    occurred_at: iso(event.occurredAtMs),
    received_at: iso(event.receivedAtMs),
    offset_ms: event.offsetMs,
    clamped: event.clamped,
    watched_ms: event.watchedMs,
    visible_ratio: event.visible?.ratio,
    visible_ms: event.visible?.ms,
    detail: event.detail,
  }));
  const stored = await queries.query<{ decision_id: string; id: string }>(
    `INSERT INTO ad_events (account_id, decision_id, id, type, occurred_at, received_at, offset_ms, clamped,
        watched_ms, visible_ratio, visible_ms, detail)
      SELECT $1, decision_id, id, type, occurred_at, received_at, offset_ms, clamped, watched_ms, visible_ratio, visible_ms, detail
      FROM jsonb_to_recordset($2::text::jsonb) AS row(decision_id text, id text, type text,
        occurred_at timestamptz, received_at timestamptz, offset_ms bigint, clamped boolean, watched_ms integer,
        visible_ratio double precision, visible_ms integer, detail text)
      ON CONFLICT (account_id, decision_id, id) DO NOTHING
      RETURNING decision_id, id`,
    [accountId, JSON.stringify(rows)],
  );
  return new Set(stored.map(({ decision_id, id }) => `${decision_id}/${id}`));
}

/** Reads what impressions and rewards are judged by. */
export async function readEvidence(
  queries: Queries,
  accountId: string,
  decisionIds: string[],
): Promise<RecordedEvent[]> {
  interface Row {
    decision_id: string;
    id: string;
    type: RecordedEvent['type'];
    occurred_at: Date;
    received_at: Date;
    offset_ms: number | null;
    clamped: boolean;
    watched_ms: number | null;
    visible_ratio: number | null;
    visible_ms: number | null;
  }
  if (decisionIds.length === 0) return [];
  const rows = await queries.query<Row>(
    `SELECT decision_id, id, type, occurred_at, received_at, offset_ms, clamped, watched_ms, visible_ratio, visible_ms
      FROM ad_events WHERE account_id = $1 AND decision_id ${among('$2')} AND decision_id BETWEEN $3 AND $4
        AND type IN ('start', 'impression', 'viewable', 'first_quartile', 'midpoint', 'third_quartile', 'complete')`,
    [accountId, JSON.stringify(decisionIds), ...boundsOf(decisionIds)],
  );
  return rows.map((row) => ({
    id: row.id,
    decisionId: row.decision_id,
    type: row.type,
    occurredAtMs: row.occurred_at.getTime(),
    receivedAtMs: row.received_at.getTime(),
    offsetMs: row.offset_ms ?? 0,
    clamped: row.clamped,
    ...(row.watched_ms === null ? {} : { watchedMs: row.watched_ms }),
    ...(row.visible_ratio === null || row.visible_ms === null
      ? {}
      : { visible: { ratio: row.visible_ratio, ms: row.visible_ms } }),
  }));
}

/** What these users were rewarded for since `sinceMs`. */
export async function readWatches(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  sinceMs: number,
): Promise<(Watch & { viewer: string; decisionId: string })[]> {
  const rows = await queries.query<{
    id: string;
    viewer: string;
    watch_from: Date;
    watch_to: Date;
    required_ms: number;
  }>(
    `SELECT id, viewer, watch_from, watch_to, required_ms FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer ${among('$3')} AND watch_to > $4 AND id >= $5`,
    [
      accountId,
      environment,
      JSON.stringify(viewers),
      iso(sinceMs),
      firstIdAt('decision', sinceMs - watchEndsWithinMs),
    ],
  );
  return rows.map((row) => ({
    viewer: row.viewer,
    decisionId: row.id,
    fromMs: row.watch_from.getTime(),
    toMs: row.watch_to.getTime(),
    requiredMs: row.required_ms,
  }));
}

/** When the user had verified impressions at the placement, less than `withinMs` away; other decisions only. */
export async function readServedAround(
  queries: Queries,
  { accountId, environment }: Scope,
  decision: DecisionState,
  atMs: number,
  withinMs: number,
): Promise<number[]> {
  const rows = await queries.query<{ served_at: Date }>(
    `SELECT served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND placement = $4
        AND served_at > $5 AND served_at < $6 AND id <> $7 AND id >= $8`,
    [
      accountId,
      environment,
      decision.viewer,
      decision.placement,
      iso(atMs - withinMs),
      iso(atMs + withinMs),
      decision.id,
      firstIdAt('decision', atMs - withinMs - servedWithinMs),
    ],
  );
  return rows.map(({ served_at }) => served_at.getTime());
}

/** How many ads the user was given in the time before this decision and never saw. */
export async function countUnseen(
  queries: Queries,
  { accountId, environment }: Scope,
  decision: DecisionState,
  withinMs: number,
): Promise<number> {
  const [row] = await queries.query<{ count: number }>(
    `SELECT count(*) AS count FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND status = 'filled'
        AND id > $4 AND id < $5 AND id <> $6 AND served_at IS NULL`,
    [
      accountId,
      environment,
      decision.viewer,
      firstIdAt('decision', decision.issuedAtMs - withinMs),
      firstIdAt('decision', decision.issuedAtMs + 1),
      decision.id,
    ],
  );
  return row?.count ?? 0;
}
