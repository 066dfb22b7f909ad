import type { Job, Webhook } from '@trueward/protocol/wire';
import { createJob, type JobStep } from '../history/jobs.ts';
import { throwFieldErrors } from '../platform/domain-error.ts';
import { firstIdAt, type MakeId, readIdTime } from '../platform/ids.ts';
import { type Clock, formatInstant } from '../platform/time.ts';
import type { ResourceManager } from '../resource/resource-manager.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { AuditLog, Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';
import { queueDeliveries } from './delivery-store.ts';

/** What became of an event at a webhook. `missed` means that it was never queued. */
export const eventOutcomes = ['missed', 'failed', 'delivered'] as const;

/** Which events to send again. */
export interface RecoveryFilter {
  sinceMs: number;
  /** Default: now. */
  untilMs?: number | undefined;
  /** Default: `missed` and `failed`. */
  state?: (typeof eventOutcomes)[number] | undefined;
  /** Default: all types to which the webhook subscribes. */
  type?: Webhook['events'][number] | undefined;
}

interface Deps {
  clock: Pick<Clock, 'nowMs'>;
  makeId: MakeId;
  audit: AuditLog;
  resources: ResourceStore;
  resourceManager: Pick<ResourceManager, 'change'>;
}

/** Starts a job that sends a webhook's events again. */
export async function startRecovery(
  deps: Deps,
  operation: Operation,
  webhook: Webhook,
  { sinceMs, untilMs, state, type }: RecoveryFilter,
): Promise<Job> {
  const nowMs = deps.clock.nowMs();
  const endMs = Math.min(untilMs ?? Infinity, nowMs);
  if (sinceMs > nowMs)
    throwFieldErrors([
      { pointer: '/since', message: `must be in the past; it is ${formatInstant(nowMs)} now` },
    ]);
  if (untilMs !== undefined && untilMs <= sinceMs)
    throwFieldErrors([{ pointer: '/until', message: 'must be after `since`' }]);
  if (type !== undefined && !webhook.events.includes(type))
    throwFieldErrors([{ pointer: '/type', message: 'is not one to which the webhook subscribes' }]);
  const request = {
    webhook_id: webhook.id,
    since: formatInstant(sinceMs),
    until: formatInstant(endMs),
    ...(state === undefined ? {} : { state }),
    ...(type === undefined ? {} : { type }),
  };
  const { missed_since: missedSince } = webhook;
  const isComplete = untilMs === undefined && state === undefined && type === undefined;
  if (missedSince !== undefined && isComplete && sinceMs <= Date.parse(missedSince))
    await deps.resourceManager.change(
      operation,
      { kind: 'webhook', id: webhook.id, ifMatch: undefined, action: 'recovery_started' },
      ({ missed_since: _missed, ...before }) => before,
    );
  const job = await createJob(operation, deps, { kind: 'recovery', request });
  await deps.audit.record(operation, {
    action: 'webhook.recovered',
    targetId: webhook.id,
    after: { job_id: job.id, ...request },
  });
  return job;
}

/** Number of events that a step reads. */
const eventsPerStep = 500;
/** New events wait behind those of a recovery, so a recovery adds no more than this to a webhook's queue. */
const maxWaiting = 2_000;

/**
 * Reads the next events by id, and what became of each. Deliveries have ids from the time of their event or later, which
 * leaves out the partitions of earlier weeks.
 */
const readEvents = `WITH page AS MATERIALIZED (
    SELECT id, type FROM webhook_events
      WHERE account_id = $1 AND environment = $2 AND id > $3 AND id < $4 ORDER BY id LIMIT ${eventsPerStep})
  SELECT page.id, page.type,
      CASE WHEN EXISTS (SELECT FROM delivery_queue q
          WHERE q.account_id = $1 AND q.event_id = page.id AND q.webhook_id = $5) THEN 'pending'
        ELSE (SELECT CASE WHEN count(*) = 0 THEN 'missed' WHEN bool_or(f.state = 'delivered') THEN 'delivered'
            ELSE 'failed' END FROM finished_deliveries f
          WHERE f.account_id = $1 AND f.event_id = page.id AND f.webhook_id = $5 AND f.id >= $6) END AS outcome
    FROM page ORDER BY page.id`;

/** Creates the steps of recoveries. A step queues the next events that match the filter. */
export function createRecoveryStep({
  clock,
  makeId,
  resources,
}: Pick<Deps, 'clock' | 'makeId' | 'resources'>): JobStep {
  return async (queries, { scope, request, cursor }) => {
    const { webhook_id: webhookId = '', since = '', until = '', state, type } = request;
    const webhook = (await resources.find(queries, scope, 'webhook', webhookId))?.document;
    const [sinceMs, untilMs] = [Date.parse(since), Date.parse(until)];
    const from = cursor ?? firstIdAt('webhookEvent', sinceMs);
    const getProgress = (id: string): number =>
      Math.max(0, Math.min(1, (readIdTime(id) - sinceMs) / Math.max(1, untilMs - sinceMs)));
    const stay = { cursor, progress: getProgress(from) };
    if (webhook?.status !== 'enabled')
      return { ...stay, end: { failed: 'The webhook has been disabled or deleted.' } };
    if ((await countWaiting(queries, scope.accountId, webhookId)) >= maxWaiting)
      return { ...stay, isWaiting: true };
    const events = await queries.query<{ id: string; type: string; outcome: string }>(readEvents, [
      scope.accountId,
      scope.environment,
      from,
      firstIdAt('webhookEvent', untilMs),
      webhookId,
      firstIdAt('delivery', readIdTime(from)),
    ]);
    const types: readonly string[] = type === undefined ? webhook.events : [type];
    const outcomes: readonly string[] = state === undefined ? ['missed', 'failed'] : [state];
    const ids = events
      .filter((event) => types.includes(event.type) && outcomes.includes(event.outcome))
      .map(({ id }) => id);
    await queueDeliveries({ queries, scope, makeId, nowMs: clock.nowMs() }, webhookId, ids);
    const last = events.at(-1)?.id ?? from;
    return {
      cursor: last,
      progress: getProgress(last),
      counts: { read: events.length, queued: ids.length },
      ...(events.length < eventsPerStep ? { end: 'done' } : {}),
    };
  };
}

async function countWaiting(
  queries: Queries,
  accountId: string,
  webhookId: string,
): Promise<number> {
  const [row] = await queries.query<{ count: number }>(
    `SELECT count(*)::bigint AS count FROM (SELECT 1 FROM delivery_queue
      WHERE account_id = $1 AND webhook_id = $2 LIMIT ${maxWaiting}) AS waiting`,
    [accountId, webhookId],
  );
  return row?.count ?? 0;
}
