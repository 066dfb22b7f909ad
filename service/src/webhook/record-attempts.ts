import { createScopedLanes, type LaneParts } from '../store/lanes.ts';
import type { Scope, Database, Queries } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { arraysOf, type Column, unnest } from '../store/unnest.ts';
import type { DueDelivery } from './delivery-store.ts';
import { type Failing, recordFailures } from './endpoint-health.ts';
import type { AttemptResult } from './sender.ts';

/** What follows from an attempt: delivered, given up, or to be retried after `delayMs`. */
export type Next = { state: 'delivered' | 'failed' } | { state: 'pending'; delayMs: number };

/** An attempt that has ended. */
export interface EndedAttempt {
  scope: Scope;
  delivery: Pick<DueDelivery, 'id' | 'webhookId' | 'attempt'>;
  result: AttemptResult;
  next: Next;
  /** Whether a request was made, so that the result says something about the endpoint. */
  wasSent: boolean;
}

/** The lanes on which attempts of one account and environment are recorded together. */
export function createAttemptLanes(
  database: Database,
  lanes: LaneParts,
): Lane<EndedAttempt, Failing | undefined> {
  return createScopedLanes(lanes, {
    commit: (items) => recordAttempts(database, items),
    // Nobody waits for it: the next request does not.
    gatherMs: 25,
  });
}

const columns: readonly Column<EndedAttempt>[] = [
  { name: 'id', type: 'text', read: ({ delivery }) => delivery.id },
  { name: 'webhook_id', type: 'text', read: ({ delivery }) => delivery.webhookId },
  { name: 'attempt', type: 'integer', read: ({ delivery }) => delivery.attempt + 1 },
  { name: 'started_at', type: 'timestamptz', read: ({ result }) => result.startedAtMs },
  { name: 'latency_ms', type: 'integer', read: ({ result }) => result.latencyMs },
  { name: 'status', type: 'integer', read: ({ result }) => result.status },
  { name: 'error', type: 'text', read: ({ result }) => result.error },
  { name: 'response', type: 'text', read: ({ result }) => result.response },
  { name: 'state', type: 'text', read: ({ next }) => next.state },
  {
    name: 'delay_ms',
    type: 'double precision',
    read: ({ next }) => (next.state === 'pending' ? next.delayMs : null),
  },
];

/*
 * The deliveries are looked up by their ids (`= ANY`): by a join alone the planner may read everything that the
 * account has. For the same reason the statement is planned each time, and says `NOT IN` rather than
 * `state = 'pending'`, which fits an index of all that waits for a dead endpoint.
 */

/** Stores attempts and the next state of their deliveries; clears the failures of endpoints that accepted one. */
const record = `WITH ended AS (SELECT ${unnest(columns, 2)}),
  stored AS (
    INSERT INTO delivery_attempts (account_id, delivery_id, attempt, started_at, latency_ms, status, error, response)
      SELECT $1, id, attempt, started_at, latency_ms, status, error, response FROM ended
      ON CONFLICT DO NOTHING),
  recovered AS (
    DELETE FROM webhook_failures
      WHERE account_id = $1 AND webhook_id IN (SELECT webhook_id FROM ended WHERE state = 'delivered'))
  UPDATE deliveries SET state = ended.state, attempt = ended.attempt, lease_until = NULL,
      next_at = CASE WHEN ended.delay_ms IS NULL THEN deliveries.next_at
        ELSE now() + ended.delay_ms * interval '1 millisecond' END
    FROM ended
    WHERE deliveries.account_id = $1 AND deliveries.id = ANY ($2) AND deliveries.id = ended.id
      AND deliveries.attempt = ended.attempt - 1 AND deliveries.state NOT IN ('delivered', 'failed')`;

/**
 * Records attempts of one account in one transaction, and returns for each how long its endpoint has been
 * failing. An attempt that another process has already recorded, after the lease expired, changes nothing.
 */
export async function recordAttempts(
  database: Pick<Database, 'query' | 'transaction'>,
  items: readonly EndedAttempt[],
): Promise<(Failing | undefined)[]> {
  const [first] = items;
  if (!first) return [];
  const { accountId } = first.scope;
  const write = (queries: Pick<Queries, 'query'>) =>
    queries.query(record, [accountId, ...arraysOf(columns, items)]);
  const failures = failuresSinceSuccess(items);
  if (failures.size === 0) {
    await write(database);
    return items.map(() => undefined);
  }
  const failing = await database.transaction(async (queries) => {
    await write(queries);
    return recordFailures(queries, accountId, failures);
  });
  return items.map(({ delivery }) => failing.get(delivery.webhookId));
}

/** By endpoint, the failures after its last success: the order of the items is that in which they ended. */
function failuresSinceSuccess(
  items: readonly EndedAttempt[],
): ReadonlyMap<string, { times: number; firstAtMs: number }> {
  const failures = new Map<string, { times: number; firstAtMs: number }>();
  for (const { delivery, next, result, wasSent } of items) {
    const { webhookId } = delivery;
    const known = failures.get(webhookId) ?? { times: 0, firstAtMs: result.startedAtMs };
    if (next.state === 'delivered') failures.delete(webhookId);
    else if (wasSent) failures.set(webhookId, { ...known, times: known.times + 1 });
  }
  return failures;
}
