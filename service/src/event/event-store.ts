import { servedWithinMs } from '../decision/caps.ts';
import { firstIdAt } from '../platform/ids.ts';
import { textArray } from '../store/binary-arrays.ts';
import type { Queries } from '../store/database.ts';
import type { Scope } from '../resource/scope.ts';
import type { Watch } from '../reward/watch-time.ts';
import type { DecisionState } from './decision-state.ts';
import { judgedTypes, type RecordedEvent } from './recorded-event.ts';

/** A watch ends before it is too late to tell of it, which is seven days at most. */
const watchEndsWithinMs = 8 * 86_400_000;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Makes the others that grant to the same users wait until this transaction ends. */
export async function lockViewers(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  nowMs: number,
): Promise<void> {
  if (viewers.length === 0) return;
  await queries.execute(
    `INSERT INTO viewers (account_id, environment, viewer, seen_at)
      SELECT $1, $2, viewer, $3::timestamptz FROM unnest($4::text[]) AS viewer ORDER BY viewer
      ON CONFLICT (account_id, environment, viewer) DO UPDATE SET seen_at = excluded.seen_at`,
    [accountId, environment, iso(nowMs), textArray(viewers)],
  );
}

/*
 * Rows are asked for by their ids alone. The first and the last id beside them would tempt the database
 * to read whatever lies between: of the newest rows it has no statistics, and takes them to be few.
 */

/** Reads filled decisions; with `hold` nobody else changes them until the transaction ends. */
export async function readDecisions(
  queries: Queries,
  { accountId, environment }: Scope,
  ids: string[],
  { hold }: { hold: boolean },
): Promise<DecisionState[]> {
  if (ids.length === 0) return [];
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
      FROM decisions WHERE account_id = $1 AND environment = $2 AND status = 'filled' AND id = ANY($3::text[])
      ORDER BY id ${hold ? 'FOR UPDATE' : ''}`,
    [accountId, environment, ids],
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

interface EvidenceRow {
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

/** Reads what impressions and rewards are judged by, by decision. */
export async function readEvidence(
  queries: Queries,
  accountId: string,
  decisionIds: string[],
): Promise<Map<string, RecordedEvent[]>> {
  const evidence = new Map(decisionIds.map((id): [string, RecordedEvent[]] => [id, []]));
  if (decisionIds.length === 0) return evidence;
  const rows = await queries.query<EvidenceRow>(
    `SELECT decision_id, id, type, occurred_at, received_at, offset_ms, clamped, watched_ms, visible_ratio, visible_ms
      FROM ad_events WHERE account_id = $1 AND decision_id = ANY($2::text[])
        AND type IN (${judgedTypes.map((type) => `'${type}'`).join(', ')})`,
    [accountId, decisionIds],
  );
  for (const row of rows) evidence.get(row.decision_id)?.push(eventOf(row));
  return evidence;
}

const eventOf = (row: EvidenceRow): RecordedEvent => ({
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
});

/** What somebody was rewarded for. */
export interface ViewerWatch extends Watch {
  viewer: string;
  decisionId: string;
}

/** What these users were rewarded for since `sinceMs`. */
export async function readWatches(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  sinceMs: number,
): Promise<ViewerWatch[]> {
  if (viewers.length === 0) return [];
  const rows = await queries.query<{
    id: string;
    viewer: string;
    watch_from: Date;
    watch_to: Date;
    required_ms: number;
  }>(
    `SELECT id, viewer, watch_from, watch_to, required_ms FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = ANY($3::text[]) AND watch_to > $4 AND id >= $5`,
    [
      accountId,
      environment,
      viewers,
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

/** A verified impression. */
export interface ServedAd {
  decisionId: string;
  viewer: string;
  placement: string;
  atMs: number;
}

/** The verified impressions of these users from `fromMs` to `toMs`. */
export async function readServed(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  [fromMs, toMs]: [number, number],
): Promise<ServedAd[]> {
  if (viewers.length === 0) return [];
  const rows = await queries.query<Omit<ServedAd, 'atMs'> & { served_at: Date }>(
    `SELECT id AS "decisionId", viewer, placement, served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = ANY($3::text[])
        AND served_at > $4 AND served_at < $5 AND id >= $6`,
    [
      accountId,
      environment,
      viewers,
      iso(fromMs),
      iso(toMs),
      firstIdAt('decision', fromMs - servedWithinMs),
    ],
  );
  return rows.map(({ served_at, ...row }) => ({ ...row, atMs: served_at.getTime() }));
}

/** How many ads each user was given in the time before each decision and has not seen. */
export async function countUnseen(
  queries: Queries,
  { accountId, environment }: Scope,
  decisions: readonly DecisionState[],
  withinMs: number,
): Promise<Map<string, number>> {
  if (decisions.length === 0) return new Map();
  const asked = decisions.map(({ id, viewer, issuedAtMs }) => ({
    asked_id: id,
    asked_viewer: viewer,
    from_id: firstIdAt('decision', issuedAtMs - withinMs),
    to_id: firstIdAt('decision', issuedAtMs + 1),
  }));
  const rows = await queries.query<{ id: string; count: number }>(
    `SELECT asked_id AS id, (
        SELECT count(*) FROM decisions WHERE account_id = $1 AND environment = $2 AND viewer = asked_viewer
          AND status = 'filled' AND id > from_id AND id < to_id AND id <> asked_id AND served_at IS NULL) AS count
      FROM jsonb_to_recordset($3::text::jsonb)
        AS asked(asked_id text, asked_viewer text, from_id text, to_id text)`,
    [accountId, environment, JSON.stringify(asked)],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
