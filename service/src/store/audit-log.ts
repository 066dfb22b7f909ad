import type { AuditEntry } from '@trueward/protocol/wire';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Queries, Scope } from './database.ts';

/** The context of a change: its transaction, scope and actor. */
export interface Operation {
  queries: Queries;
  scope: Scope;
  /** The id of a key, the e-mail address of a panel user, `service` or `command_line`. */
  actor: string;
  requestId?: string;
}

/** Whether a change may be applied to the given revision. If undefined, it may be applied to any revision. */
export type IfMatch = ((revision: number) => boolean) | undefined;

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

/**
 * Lists the audit records of one account and environment, newest first. Returns `limit` + 1 rows if there is another
 * page.
 */
export async function listAuditEntries(
  queries: Queries,
  scope: Scope,
  { limit, startingAfter, targetId, actor, action, fromMs, toMs }: AuditQuery,
): Promise<AuditEntry[]> {
  const rows = await queries.query<AuditRow>(
    `SELECT id, environment, created_at, actor, action, target_id, request_id, before, after FROM audit_entries
      WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR id < $3)
        AND ($4::text IS NULL OR target_id = $4)
        AND ($5::text IS NULL OR strpos(lower(actor), lower($5)) > 0)
        AND ($6::text IS NULL OR starts_with(action, $6))
        AND ($7::timestamptz IS NULL OR created_at >= $7)
        AND ($8::timestamptz IS NULL OR created_at < $8)
      ORDER BY id DESC LIMIT $9`,
    [
      scope.accountId,
      scope.environment,
      startingAfter ?? null,
      targetId ?? null,
      actor ?? null,
      action ?? null,
      fromMs === undefined ? null : new Date(fromMs),
      toMs === undefined ? null : new Date(toMs),
      limit + 1,
    ],
  );
  return rows.map(({ created_at, request_id, before, after, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    ...(request_id === null ? {} : { request_id }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
  }));
}
