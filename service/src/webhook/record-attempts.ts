import type { DeliveryAttempt } from '@trueward/protocol/wire';
import { formatInstant } from '../platform/time.ts';
import { createScopedLanes, type LaneDeps } from '../store/lanes.ts';
import type { Scope, Database, Queries } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { buildArrays, type Column, unnest } from '../store/unnest.ts';
import type { NextState } from './retry-schedule.ts';
import type { DueDelivery } from './delivery-store.ts';
import { type ConsecutiveFailures, recordFailures } from './endpoint-health.ts';
import type { AttemptResult } from './sender.ts';

/** A finished attempt. */
export interface FinishedAttempt {
  scope: Scope;
  delivery: Pick<DueDelivery, 'id' | 'webhookId' | 'attempt'>;
  result: AttemptResult;
  next: NextState;
  /**
   * Whether a failure says something about the endpoint's health. It doesn't if no request was sent, or if the endpoint
   * handles other requests well: of those that hang, several are given up in a row.
   */
  concernsHealth: boolean;
}

/** Creates the lanes that record attempts in batches, per account and environment. */
export function createAttemptLanes(
  database: Database,
  lanes: LaneDeps,
): Lane<FinishedAttempt, ConsecutiveFailures | undefined> {
  return createScopedLanes(lanes, {
    commit: (items) => recordAttempts(database, items),
    // A delay is harmless, because no request waits for an attempt to be recorded.
    gatherMs: 25,
  });
}

const columns: readonly Column<FinishedAttempt>[] = [
  { name: 'id', type: 'text', read: ({ delivery }) => delivery.id },
  { name: 'webhook_id', type: 'text', read: ({ delivery }) => delivery.webhookId },
  { name: 'attempt', type: 'integer', read: ({ delivery }) => delivery.attempt + 1 },
  { name: 'record', type: 'text', read: (item) => JSON.stringify([describeAttempt(item)]) },
  { name: 'state', type: 'text', read: ({ next }) => next.state },
  {
    name: 'next_at',
    type: 'timestamptz',
    read: ({ next, result }) =>
      next.state === 'pending' ? result.startedAtMs + result.latencyMs + next.delayMs : null,
  },
];

/** Returns an attempt in the form in which the API returns it. */
const describeAttempt = ({ delivery, result }: FinishedAttempt): DeliveryAttempt => ({
  attempt: delivery.attempt + 1,
  started_at: formatInstant(result.startedAtMs),
  latency_ms: result.latencyMs,
  ...(result.status === undefined ? {} : { status: result.status }),
  ...(result.error === undefined ? {} : { error: result.error.toWellFormed() }),
  ...(result.response === undefined ? {} : { response: result.response.toWellFormed() }),
});

/**
 * Stores attempts. Moves finished deliveries from the queue to the finished ones. Resets the consecutive-failure counts
 * of endpoints that accepted a delivery.
 *
 * The statement looks up deliveries by id (`= ANY`). With the join alone, the planner might read all of the account's
 * deliveries. For the same reason, the statement is not prepared.
 */
const record = `WITH ended AS (
    SELECT * FROM (SELECT ${unnest(columns, 3)}) AS given),
  recovered AS (
    DELETE FROM webhook_failures
      WHERE account_id = $1 AND webhook_id IN (SELECT webhook_id FROM ended WHERE state = 'delivered')),
  retried AS (
    UPDATE delivery_queue AS queue SET attempt = ended.attempt, lease_until = NULL, next_at = ended.next_at,
        attempts = queue.attempts || ended.record::jsonb
      FROM ended
      WHERE queue.account_id = $1 AND queue.id = ANY ($2) AND queue.id = ended.id
        AND queue.attempt = ended.attempt - 1 AND ended.state = 'pending'),
  finished AS (
    DELETE FROM delivery_queue AS queue USING ended
      WHERE queue.account_id = $1 AND queue.id = ANY ($2) AND queue.id = ended.id
        AND queue.attempt = ended.attempt - 1 AND ended.state <> 'pending'
      RETURNING queue.account_id, queue.id, queue.environment, queue.event_id, queue.webhook_id, ended.state,
        queue.attempts || ended.record::jsonb AS attempts, queue.created_at)
  INSERT INTO finished_deliveries (account_id, id, environment, event_id, webhook_id, state, attempts, created_at)
    SELECT account_id, id, environment, event_id, webhook_id, state, attempts, created_at FROM finished`;

/**
 * Records an account's attempts in one transaction. For each attempt, returns its endpoint's number of consecutive
 * failures, or undefined if the endpoint is healthy. Ignores an attempt if its lease expired and another process has
 * recorded an attempt for the same delivery.
 */
export async function recordAttempts(
  database: Pick<Database, 'query' | 'transaction'>,
  items: readonly FinishedAttempt[],
): Promise<(ConsecutiveFailures | undefined)[]> {
  const [first] = items;
  if (!first) return [];
  const { accountId } = first.scope;
  const ids = items.map(({ delivery }) => delivery.id);
  const write = (queries: Pick<Queries, 'query'>) =>
    queries.query(record, [accountId, ids, ...buildArrays(columns, items)]);
  const failures = countFailuresSinceSuccess(items);
  if (failures.size === 0) {
    await write(database);
    return items.map(() => undefined);
  }
  const totals = await database.transaction(async (queries) => {
    await write(queries);
    return recordFailures(queries, accountId, failures);
  });
  return items.map(({ delivery }) => totals.get(delivery.webhookId));
}

/** Counts the failures since the last success, by endpoint. `items` must be in the order in which they finished. */
function countFailuresSinceSuccess(
  items: readonly FinishedAttempt[],
): ReadonlyMap<string, { times: number; firstAtMs: number }> {
  const failures = new Map<string, { times: number; firstAtMs: number }>();
  for (const { concernsHealth, delivery, next, result } of items) {
    const { webhookId } = delivery;
    const previous = failures.get(webhookId) ?? { times: 0, firstAtMs: result.startedAtMs };
    if (next.state === 'delivered') failures.delete(webhookId);
    else if (concernsHealth) failures.set(webhookId, { ...previous, times: previous.times + 1 });
  }
  return failures;
}
