import type { Logger } from 'pino';
import { firstIdAt, type MakeId } from '../platform/ids.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { Scope, Database, Queries } from '../store/database.ts';
import { attempt, type AttemptParts, hasArrived, leaseMs } from './attempt.ts';
import { type DueDelivery, release } from './delivery-store.ts';
import { claimProbe } from './endpoint-health.ts';
import { recordAttempts } from './record-attempts.ts';

interface Parts extends AttemptParts {
  database: Database;
  log: Logger;
  makeId: MakeId;
  resources: ResourceStore;
  /** Takes an endpoint back into use that answers again. */
  enable(scope: Scope, webhookId: string): Promise<void>;
  /** Notes that an endpoint said it is gone: it is not tried again. */
  disable(scope: Scope, webhookId: string, reason: 'gone'): Promise<void>;
}

/** So often an endpoint is tried that failed for days: one that is dead for good costs next to nothing. */
const probeEveryMs = 3_600_000;
/** So often it is looked for endpoints whose hour has come. */
const lookEveryMs = 60_000;
const tickMs = 1_000;

/**
 * Tries endpoints that were disabled because they failed for days (a half-open circuit): once an hour,
 * with the last event that they did not get, so that nothing made up reaches a receiver in live. One
 * that said that it is gone, or that an operator turned off, is left alone.
 */
export function startProbes(parts: Parts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let lookAtMs = 0;
  let round = Promise.resolve();
  const timer = setInterval(() => {
    const nowMs = parts.clock.nowMs();
    if (nowMs < lookAtMs) return;
    lookAtMs = nowMs + lookEveryMs;
    round = round
      .then(() => probeAll(parts, nowMs, stopping.signal))
      .catch((error: unknown) =>
        parts.log.error({ err: error }, 'disabled webhooks could not be tried'),
      );
  }, tickMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await round;
    },
  };
}

async function probeAll(parts: Parts, nowMs: number, stopping: AbortSignal): Promise<void> {
  const idle = await parts.database.query<Scope & { webhookId: string; disabledAt: string }>(
    `SELECT account_id AS "accountId", environment, id AS "webhookId", document->>'disabled_at' AS "disabledAt"
      FROM resources
      WHERE kind = 'webhook' AND archived_at IS NULL AND document->>'disabled_reason' = 'failing'
        AND document->>'disabled_at' <= $1`,
    [new Date(nowMs - probeEveryMs).toISOString()],
  );
  const tryOne = async (endpoint: (typeof idle)[number]): Promise<void> => {
    if (stopping.aborted) return;
    if (await claimProbe(parts.database, endpoint, nowMs, probeEveryMs))
      await probe(parts, endpoint, stopping);
  };
  const ends = await Promise.allSettled(idle.map(tryOne));
  for (const end of ends)
    if (end.status === 'rejected')
      parts.log.error({ err: end.reason as unknown }, 'a disabled webhook could not be tried');
}

async function probe(
  parts: Parts,
  { disabledAt, webhookId, ...scope }: Scope & { webhookId: string; disabledAt: string },
  stopping: AbortSignal,
): Promise<void> {
  const { database, clock, makeId, resources, log } = parts;
  const found = await resources.find(database, scope, 'webhook', webhookId);
  const event = await lastMissed(database, scope, webhookId, Date.parse(disabledAt));
  if (!found || !event) return;
  const delivery = { ...scope, ...event, id: makeId('delivery'), webhookId, attempt: 0 };
  await begin(database, delivery, clock.nowMs());
  const result = await attempt(parts, found.document, delivery, stopping);
  if (stopping.aborted && result.status === undefined) return release(database, delivery);
  const state = hasArrived(result) ? 'delivered' : 'failed';
  await recordAttempts(database, [{ scope, delivery, result, next: { state }, wasSent: false }]);
  log.info({ webhookId, status: result.status }, 'a disabled webhook was tried');
  if (state === 'delivered') await parts.enable(scope, webhookId);
  else if (result.status === 410) await parts.disable(scope, webhookId, 'gone');
}

/** The last event before the webhook was disabled; gone when it is too old to be kept. */
async function lastMissed(
  queries: Queries,
  { accountId }: Scope,
  webhookId: string,
  disabledAtMs: number,
): Promise<Pick<DueDelivery, 'eventId' | 'body'> | undefined> {
  const [last] = await queries.query<Pick<DueDelivery, 'eventId' | 'body'>>(
    `SELECT event_id AS "eventId", events.body FROM deliveries
      LEFT JOIN webhook_events AS events
        ON events.account_id = deliveries.account_id AND events.id = deliveries.event_id
      WHERE deliveries.account_id = $1 AND webhook_id = $2 AND deliveries.id < $3 AND state <> 'delivered'
      ORDER BY deliveries.id DESC LIMIT 1`,
    [accountId, webhookId, firstIdAt('delivery', disabledAtMs + 1)],
  );
  return last;
}

/** Under lease from the start, so that no dispatcher takes it; should this process die, one ends it. */
async function begin(queries: Queries, delivery: DueDelivery, nowMs: number): Promise<void> {
  const { accountId, id, environment, eventId, webhookId } = delivery;
  await queries.query(
    `INSERT INTO deliveries (account_id, id, environment, event_id, webhook_id, state, attempt, next_at, created_at, lease_until)
      VALUES ($1, $2, $3, $4, $5, 'pending', 0, now(), $6, now() + $7::float8 * interval '1 millisecond')`,
    [accountId, id, environment, eventId, webhookId, new Date(nowMs), leaseMs],
  );
}
