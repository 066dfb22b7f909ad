import type { Logger } from 'pino';
import { firstIdAt, type MakeId } from '../platform/ids.ts';
import { formatInstant } from '../platform/time.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { Scope, Database, Queries } from '../store/database.ts';
import { attempt, type AttemptDeps } from './attempt.ts';
import { isDelivered } from './retry-schedule.ts';
import { type DueDelivery, release } from './delivery-store.ts';
import { claimProbe } from './endpoint-health.ts';
import { recordAttempts } from './record-attempts.ts';

interface Deps extends AttemptDeps {
  database: Database;
  log: Logger;
  makeId: MakeId;
  resources: ResourceStore;
  /** Enables an endpoint that has recovered. */
  enable(scope: Scope, webhookId: string): Promise<void>;
  /** Disables an endpoint that returned 410 Gone. It is not probed again. */
  disable(scope: Scope, webhookId: string, reason: 'gone'): Promise<void>;
}

/** Interval between probes of an endpoint. Long, so that an endpoint that never recovers causes little load. */
const probeIntervalMs = 3_600_000;
/** Interval between scans for endpoints that are due for a probe. */
const scanIntervalMs = 60_000;
const tickMs = 1_000;
/** How long a probe's lease lasts. It is not renewed. Attempts time out after 10 s. */
const leaseMs = 20_000;

/**
 * Once an hour, probes endpoints that were disabled as `failing` (a half-open circuit breaker). A probe delivers the
 * last event that the endpoint missed, because live receivers must not get synthetic events. Endpoints that returned
 * 410 Gone or were disabled by an operator are not probed.
 */
export function startProbes(deps: Deps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let nextScanAtMs = 0;
  let scan = Promise.resolve();
  const timer = setInterval(() => {
    const nowMs = deps.clock.nowMs();
    if (nowMs < nextScanAtMs) return;
    nextScanAtMs = nowMs + scanIntervalMs;
    scan = scan
      .then(() => probeAll(deps, nowMs, stopping.signal))
      .catch((error: unknown) =>
        deps.log.error({ err: error }, 'could not probe disabled webhooks'),
      );
  }, tickMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await scan;
    },
  };
}

/** An endpoint that was disabled as `failing`. */
type DisabledEndpoint = Scope & { webhookId: string; disabledAt: string };

/** Lists the endpoints that have been disabled as `failing` for at least the interval between probes. */
export const listFailingEndpoints = (
  queries: Pick<Queries, 'query'>,
  nowMs: number,
): Promise<DisabledEndpoint[]> =>
  queries.query<DisabledEndpoint>(
    `SELECT account_id AS "accountId", environment, id AS "webhookId", document->>'disabled_at' AS "disabledAt"
      FROM resources
      WHERE kind = 'webhook' AND archived_at IS NULL AND document->>'disabled_reason' = 'failing'
        AND document->>'disabled_at' <= $1`,
    [formatInstant(nowMs - probeIntervalMs)],
  );

async function probeAll(deps: Deps, nowMs: number, stopping: AbortSignal): Promise<void> {
  const disabledEndpoints = await listFailingEndpoints(deps.database, nowMs);
  const probeOne = async (endpoint: DisabledEndpoint): Promise<void> => {
    if (stopping.aborted) return;
    if (await claimProbe(deps.database, endpoint, nowMs, probeIntervalMs))
      await probe(deps, endpoint, stopping);
  };
  const results = await Promise.allSettled(disabledEndpoints.map(probeOne));
  for (const result of results)
    if (result.status === 'rejected')
      deps.log.error({ err: result.reason as unknown }, 'could not probe a disabled webhook');
}

async function probe(
  deps: Deps,
  { disabledAt, webhookId, ...scope }: DisabledEndpoint,
  stopping: AbortSignal,
): Promise<void> {
  const { database, clock, makeId, resources, log } = deps;
  const webhook = await resources.find(database, scope, 'webhook', webhookId);
  const event = await findLastMissed(database, scope, webhookId, Date.parse(disabledAt));
  if (!webhook || !event) return;
  const delivery = { ...scope, ...event, id: makeId('delivery'), webhookId, attempt: 0 };
  await insertLeased(database, delivery, clock.nowMs());
  const result = await attempt(deps, webhook.document, delivery, stopping);
  if (stopping.aborted && result.status === undefined) return release(database, delivery);
  const state = isDelivered(result) ? 'delivered' : 'failed';
  await recordAttempts(database, [
    { scope, delivery, result, next: { state }, concernsHealth: false },
  ]);
  log.info({ webhookId, status: result.status }, 'a disabled webhook was probed');
  if (state === 'delivered') await deps.enable(scope, webhookId);
  else if (result.status === 410) await deps.disable(scope, webhookId, 'gone');
}

/**
 * Finds the last event that a webhook missed before it was disabled. Returns undefined if the event has been deleted.
 */
export async function findLastMissed(
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

/**
 * Inserts a delivery with a lease, so that no dispatcher claims it. If this process dies, a dispatcher takes over the
 * delivery when the lease expires.
 */
async function insertLeased(queries: Queries, delivery: DueDelivery, nowMs: number): Promise<void> {
  const { accountId, id, environment, eventId, webhookId } = delivery;
  await queries.query(
    `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at, lease_until)
      VALUES ($1, $2, $3, $4, $5, 0, $6, $6, $7)`,
    [accountId, id, environment, eventId, webhookId, new Date(nowMs), new Date(nowMs + leaseMs)],
  );
}
