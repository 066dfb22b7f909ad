import { firstIdAt } from '../platform/ids.ts';
import type { Queries, Scope } from '../store/database.ts';
import { withoutNulls } from './inspect-decision.ts';

/** A decision in a list. */
interface ListedDecision {
  id: string;
  status: string;
  reason?: string;
  placement: string;
  issued_at: Date;
  user_ref?: string;
  reward_state: string;
  reward_reason?: string;
  /** The type of the event that arrived last. */
  last_event?: string;
}

/** What is searched for. Undefined members match every decision. */
export interface DecisionSearch {
  /** The player's pseudonym. */
  viewer?: string | undefined;
  placement?: string | undefined;
  /** The state of the reward or of the decision, such as `earned` or `no_fill`. */
  state?: string | undefined;
  /** Inclusive. */
  fromMs?: number | undefined;
  /** Exclusive. */
  toMs?: number | undefined;
}

interface DecisionPage {
  data: ListedDecision[];
  has_more: boolean;
  next_cursor?: string;
}

/**
 * How many decisions a page of a search looks through. Reading them takes about 0.1 s. If nothing matches in them, the
 * next page goes on.
 */
const maxSearched = 50_000;

/** Lists the decisions of one account and environment, newest first. */
export async function listDecisions(
  queries: Queries,
  { accountId, environment }: Scope,
  {
    limit,
    startingAfter,
    search: { viewer, placement, state, fromMs, toMs } = {},
  }: { limit: number; startingAfter?: string; search?: DecisionSearch },
): Promise<DecisionPage> {
  const rows = await queries.query<Record<string, unknown> & { id: string; oldest: string | null }>(
    `WITH searched AS MATERIALIZED (
        SELECT id, status, reason, placement, issued_at, user_ref, reward_state, reward_reason FROM decisions
          WHERE account_id = $1 AND environment = $2
            AND ($3::text IS NULL OR id < $3) AND ($4::text IS NULL OR id < $4) AND ($5::text IS NULL OR id >= $5)
            ${viewer === undefined ? 'AND $6::text IS NULL' : 'AND viewer = $6::text'}
          ORDER BY id DESC LIMIT $7),
      page AS (
        SELECT * FROM searched
          WHERE ($8::text IS NULL OR placement = $8::text) AND ($9::text IS NULL OR $9::text IN (status, reward_state))
          ORDER BY id DESC LIMIT $10),
      oldest AS (SELECT CASE WHEN count(*) = $7 THEN min(id) END AS id FROM searched)
    SELECT page.*, oldest.id AS oldest, (SELECT type FROM recorded_events
        WHERE account_id = $1 AND decision_id = page.id ORDER BY received_at DESC, occurred_at DESC LIMIT 1) AS last_event
      FROM oldest LEFT JOIN page ON true ORDER BY page.id DESC`,
    [
      accountId,
      environment,
      startingAfter ?? null,
      toMs === undefined ? null : firstIdAt('decision', toMs),
      fromMs === undefined ? null : firstIdAt('decision', fromMs),
      viewer ?? null,
      placement === undefined && state === undefined ? limit + 1 : maxSearched,
      placement ?? null,
      state ?? null,
      limit + 1,
    ],
  );
  const found = rows.filter(({ id }) => id !== null);
  const data = found
    .slice(0, limit)
    .map(({ oldest: _oldest, ...row }) => withoutNulls(row) as ListedDecision);
  const cursor = found.length > limit ? data.at(-1)?.id : rows[0]?.oldest;
  return cursor === undefined || cursor === null
    ? { data, has_more: false }
    : { data, has_more: true, next_cursor: cursor };
}
