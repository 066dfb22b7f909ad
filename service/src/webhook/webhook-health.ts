import type { Delivery, Webhook, WebhookHealth } from '@trueward/protocol/wire';
import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';
import { disableAfterMs } from './endpoint-health.ts';

interface WebhookRow {
  webhook_id: string;
  status: Webhook['status'];
  since: Date | null;
  failures: number | null;
}

interface QueueRow {
  webhook_id: string;
  queued: number;
  next_at: Date | null;
  tried: Delivery['attempts'] | null;
}

type Row = WebhookRow & Omit<QueueRow, 'webhook_id'>;

const maxQueued = 10_000;
/** How many of the oldest waiting deliveries that have been tried are looked at for the latest failure. */
const maxTried = 20;
/** How many of the oldest waiting deliveries may not have been tried. A recovery adds any number of them. */
const maxUntried = 1_000;

/** Reads the health of all webhooks of an environment, oldest webhook first. */
export async function readWebhookHealth(
  queries: Queries,
  { accountId, environment }: Scope,
): Promise<WebhookHealth[]> {
  const webhooks = await queries.query<WebhookRow>(
    `SELECT w.id AS webhook_id, w.document ->> 'status' AS status, f.since, f.attempts AS failures
      FROM resources w LEFT JOIN webhook_failures f ON f.account_id = $1 AND f.webhook_id = w.id
      WHERE w.account_id = $1 AND w.environment = $2 AND w.kind = 'webhook' AND w.archived_at IS NULL
      ORDER BY w.id`,
    [accountId, environment],
  );
  const queues = await readQueues(
    queries,
    accountId,
    webhooks.map(({ webhook_id: id }) => id),
  );
  return webhooks.map((webhook) =>
    describe({
      queued: 0,
      next_at: null,
      tried: null,
      ...queues.get(webhook.webhook_id),
      ...webhook,
    }),
  );
}

/**
 * Reads what waits for each webhook. Each has a parameter of its own: in a join, the planner expects as much to wait for
 * each of them as for all on average, and then reads the whole queue to find the few deliveries of one.
 */
async function readQueues(
  queries: Queries,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, QueueRow>> {
  if (ids.length === 0) return new Map();
  const selects = ids.map((_, index) => {
    const id = `$${index + 2}::text`;
    const waiting = `FROM delivery_queue WHERE account_id = $1 AND webhook_id = ${id}`;
    return `SELECT ${id} AS webhook_id,
      (SELECT count(*)::integer FROM (SELECT ${waiting} ORDER BY id LIMIT ${maxQueued}) AS waiting) AS queued,
      (SELECT min(next_at) ${waiting}) AS next_at,
      (SELECT jsonb_agg(attempt) FROM (SELECT attempts -> -1 AS attempt
        FROM (SELECT id, attempts ${waiting} ORDER BY id LIMIT ${maxUntried}) AS oldest
        WHERE attempts <> '[]' ORDER BY id LIMIT ${maxTried}) AS failures) AS tried`;
  });
  const rows = await queries.query<QueueRow>(selects.join(' UNION ALL '), [accountId, ...ids]);
  return new Map(rows.map((row) => [row.webhook_id, row]));
}

function describe({ webhook_id, status, since, failures, queued, next_at, tried }: Row) {
  const isFailing = since !== null && failures !== null && failures > 0;
  const state = status === 'disabled' ? 'disabled' : isFailing ? 'failing' : 'healthy';
  const health: WebhookHealth = { webhook_id, state, queued };
  if (next_at !== null) health.next_attempt_at = next_at.toISOString();
  if (!isFailing) return health;
  const latest = (tried ?? []).toSorted((a, b) => b.started_at.localeCompare(a.started_at))[0];
  health.failing_since = since.toISOString();
  health.failed_attempts = failures;
  if (latest) health.last_failure = latest.error ?? `status ${latest.status}`;
  if (state === 'failing') health.disables_at = formatInstant(since.getTime() + disableAfterMs);
  return health;
}
