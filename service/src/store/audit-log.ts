import type { AuditEntry } from '@trueward/protocol/wire';
import type { Clock } from '../platform/time.ts';
import { firstIdAt, type MakeId } from '../platform/ids.ts';
import type { Queries, Scope } from './database.ts';

/** The context of a change: its transaction, scope and actor. */
export interface Operation {
  queries: Queries;
  scope: Scope;
  /** The id of a key, the e-mail address of a panel user, `service` or `command_line`. */
  actor: string;
  requestId?: string;
}

/** A change to an object. `before` and `after` never contain secrets. */
interface AuditRecord {
  action: string;
  targetId: string;
  before?: object;
  after?: object;
}

export interface AuditLog {
  /** Writes an audit record in the change's transaction. */
  record(operation: Operation, change: AuditRecord): Promise<void>;
}

export function createAuditLog(clock: Clock, makeId: MakeId): AuditLog {
  const formatJson = (value: object | undefined) =>
    value === undefined ? null : JSON.stringify(value);
  return {
    async record({ queries, scope, actor, requestId }, { action, targetId, before, after }) {
      await queries.query(
        `INSERT INTO audit_entries (account_id, id, environment, actor, action, target_id, request_id, before, after, created_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9::text::jsonb, $10)`,
        [
          scope.accountId,
          makeId('auditEntry'),
          scope.environment,
          actor,
          action,
          targetId,
          requestId ?? null,
          formatJson(before),
          formatJson(after),
          new Date(clock.nowMs()),
        ],
      );
    },
  };
}

interface AuditRow {
  id: string;
  environment: Scope['environment'];
  created_at: Date;
  actor: string;
  action: string;
  target_id: string;
  request_id: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

interface AuditQuery {
  limit: number;
  startingAfter?: string;
  /** The id of the changed object. */
  targetId?: string;
  /** A substring of the actor, matched case-insensitively. */
  actor?: string;
  /** A prefix of the action, such as `placement` or `placement.updated`. */
  action?: string;
  /** Only changes at or after this time. */
  fromMs?: number;
  /** Only changes before this time. */
  toMs?: number;
}

/** A page of a search. Only its cursor says whether there is more: the next page may be the first with a match. */
interface AuditPage {
  data: AuditEntry[];
  has_more: boolean;
  next_cursor?: string;
}

/** How many records a page of a search looks through. If none of them matches, the next page goes on. */
const maxSearched = 20_000;
/** By how much the time in a record's id may differ from the record's time. */
const slackMs = 60_000;

/** Lists the audit records of one account and environment, newest first. */
export async function listAuditEntries(
  queries: Queries,
  scope: Scope,
  { limit, startingAfter, targetId, actor, action, fromMs, toMs }: AuditQuery,
): Promise<AuditPage> {
  const isSearch = actor !== undefined || action !== undefined;
  const rows = await queries.query<
    Omit<AuditRow, 'id'> & { id: string | null; oldest: string | null }
  >(
    `WITH searched AS MATERIALIZED (
        SELECT id, actor, action FROM audit_entries
          WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR id < $3)
            AND ($4::text IS NULL OR id >= $4) AND ($5::text IS NULL OR id < $5)
            AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)
            ${targetId === undefined ? 'AND $8::text IS NULL' : 'AND target_id = $8::text'}
          ORDER BY id DESC LIMIT $9),
      page AS (
        SELECT id FROM searched
          WHERE ($10::text IS NULL OR strpos(lower(actor), lower($10)) > 0)
            AND ($11::text IS NULL OR starts_with(action, $11))
          ORDER BY id DESC LIMIT $12),
      found AS (
        SELECT e.id, e.environment, e.created_at, e.actor, e.action, e.target_id, e.request_id, e.before, e.after
          FROM page JOIN audit_entries e ON e.account_id = $1 AND e.id = page.id),
      oldest AS (SELECT CASE WHEN count(*) = $9 THEN min(id) END AS oldest FROM searched)
    SELECT found.*, oldest FROM oldest LEFT JOIN found ON true ORDER BY found.id DESC`,
    [
      scope.accountId,
      scope.environment,
      startingAfter ?? null,
      fromMs === undefined ? null : firstIdAt('auditEntry', Math.max(0, fromMs - slackMs)),
      toMs === undefined ? null : firstIdAt('auditEntry', toMs + slackMs),
      fromMs === undefined ? null : new Date(fromMs),
      toMs === undefined ? null : new Date(toMs),
      targetId ?? null,
      isSearch ? maxSearched : limit + 1,
      actor ?? null,
      action ?? null,
      limit + 1,
    ],
  );
  const found = rows.filter((row): row is typeof row & { id: string } => row.id !== null);
  const data = found.slice(0, limit).map(toAuditEntry);
  const cursor = found.length > limit ? data.at(-1)?.id : rows[0]?.oldest;
  return cursor === undefined || cursor === null
    ? { data, has_more: false }
    : { data, has_more: true, next_cursor: cursor };
}

function toAuditEntry({
  id,
  environment,
  created_at: createdAt,
  actor,
  action,
  target_id,
  request_id: requestId,
  before,
  after,
}: AuditRow): AuditEntry {
  return {
    id,
    environment,
    created_at: createdAt.toISOString(),
    actor,
    action,
    target_id,
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
  };
}
