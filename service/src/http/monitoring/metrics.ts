import { createHash, timingSafeEqual } from 'node:crypto';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../../resource/configuration.ts';
import type { Database } from '../../store/database.ts';
import type { Lane } from '../../store/group-commit.ts';
import { isReadOnly } from './health.ts';
import { ProblemError } from '../problems/problem.ts';

/** What is counted while it happens. */
export interface ServiceMetrics {
  registry: Registry;
  observeRequest(method: string, route: string, status: string, seconds: number): void;
  observeDatabase(kind: 'statement' | 'transaction', seconds: number): void;
  observeDelivery(outcome: string, seconds: number): void;
}

/** What is looked at when somebody asks. */
interface MetricSources {
  database: Database;
  configuration: Configuration;
  lanes: Record<string, Pick<Lane<never, unknown>, 'waiting'>>;
  heldRequests(): number;
}

const shortBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** The process itself, requests by route, time in the database, and attempts of deliveries. */
export function createServiceMetrics(): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Gauges that are named as counters; the metrics without `_total` say the same, by type.
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  const requests = new Histogram({
    name: 'trueward_http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  const asked = new Histogram({
    name: 'trueward_database_duration_seconds',
    help: 'Time of a statement on its own, or of a whole transaction, with the wait for a connection.',
    labelNames: ['kind'] as const,
    buckets: shortBuckets,
    registers,
  });
  const deliveries = new Histogram({
    name: 'trueward_webhook_attempt_duration_seconds',
    help: 'Time of an attempt to deliver a webhook event, by what came of it.',
    labelNames: ['outcome'] as const,
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    registry,
    observeRequest: (method, route, status, seconds) =>
      requests.observe({ method, route, status }, seconds),
    observeDatabase: (kind, seconds) => asked.observe({ kind }, seconds),
    observeDelivery: (outcome, seconds) => deliveries.observe({ outcome }, seconds),
  };
}

/** Counting stops here: beyond it the exact number does not matter. */
const mostCounted = 10_000;
/** How long a count is cached, whatever the scrape interval is. */
const countedForMs = 15_000;
const pendingDeliveries = `SELECT count(*)::bigint AS value FROM (
    SELECT FROM deliveries WHERE state = 'pending' ORDER BY next_at LIMIT ${mostCounted + 1}) AS pending`;
const oldestDue = `SELECT coalesce(extract(epoch FROM now() - min(next_at)), 0)::float8 AS value
  FROM deliveries WHERE state = 'pending' AND next_at < now()`;

/** Reads at most one row of each table, whatever their size. */
const defaultPartitionUsed = `SELECT (EXISTS (SELECT 1 FROM decisions_other)
  OR EXISTS (SELECT 1 FROM ad_events_other) OR EXISTS (SELECT 1 FROM timelines_other))::integer AS value`;

/** What is true of the service and of its database at the moment of asking. */
export function addStateMetrics(registry: Registry, sources: MetricSources): void {
  const { database, configuration, lanes, heldRequests } = sources;
  // Before those that ask the database, and would be counted as waiting for it.
  addLabelled(registry, 'trueward_queue_length', 'Writes that wait for the next commit.', () =>
    Object.entries(lanes).map(([lane, { waiting }]) => [lane, waiting()]),
  );
  addLabelled(registry, 'trueward_database_connections', 'Connections of this process.', () =>
    Object.entries(database.connections?.() ?? {}),
  );
  const gauge = (name: string, help: string, read: () => Promise<number> | number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        try {
          this.set(await read());
        } catch {
          this.reset(); // the database is away, which trueward_database_up tells
        }
      },
    });
  };
  const count = async (statement: string): Promise<number> =>
    (await database.query<{ value: number }>(statement))[0]?.value ?? 0;

  gauge(
    'trueward_held_requests',
    'Requests with wait_s whose answer is held until a reward changes.',
    heldRequests,
  );
  gauge('trueward_database_up', 'Whether the database answers: 1 or 0.', () =>
    isReadOnly(database).then(
      () => 1,
      () => 0,
    ),
  );
  gauge('trueward_database_read_only', 'Whether the database takes no writes: 1 or 0.', async () =>
    Number(await isReadOnly(database)),
  );
  gauge(
    'trueward_database_disk_full',
    'Whether writes fail for want of room on the disk: 1 or 0.',
    () => Number(database.isFull?.() === true),
  );
  gauge(
    'trueward_webhook_deliveries_pending',
    `Deliveries that wait for their next attempt, up to 15 s ago; ${mostCounted + 1} means more than ${mostCounted}.`,
    keepFor(countedForMs, () => count(pendingDeliveries)),
  );
  gauge('trueward_webhook_overdue_seconds', 'For how long the oldest delivery has been due.', () =>
    count(oldestDue),
  );
  gauge(
    'trueward_webhooks_disabled',
    'Webhooks that the service took out of use because they were gone or failed for days.',
    configuration.disabledWebhooks,
  );
  gauge(
    'trueward_default_partition_used',
    'Whether decisions or events lie in the partition for weeks that have none of their own: 1 or 0.',
    () => count(defaultPartitionUsed),
  );
  gauge(
    'trueward_configuration_age_seconds',
    'How old the configuration of this process may be, kill switches included.',
    configuration.ageS,
  );
}

/** Caches a value for `ms` milliseconds. */
function keepFor(ms: number, read: () => Promise<number>): () => Promise<number> {
  let kept: { value: number; readAtMs: number } | undefined;
  return async () => {
    const nowMs = performance.now();
    if (!kept || nowMs - kept.readAtMs >= ms) kept = { value: await read(), readAtMs: nowMs };
    return kept.value;
  };
}

function addLabelled(
  registry: Registry,
  name: string,
  help: string,
  read: () => [string, number][],
): void {
  new Gauge({
    name,
    help,
    labelNames: ['of'] as const,
    registers: [registry],
    collect() {
      for (const [of, value] of read()) this.set({ of }, value);
    },
  });
}

interface Parts {
  metrics: ServiceMetrics;
  /** Who asks has to bring it; absent: only this machine may ask, and not through a proxy. */
  metricsToken: string | undefined;
}

/** `/metrics` for Prometheus. */
export function addMetrics(app: FastifyInstance, { metrics, metricsToken }: Parts): void {
  const { registry } = metrics;
  app.addHook('onResponse', async (request, reply) => {
    // The pattern, not the address: an address would make a series of its own.
    const route = request.routeOptions.url ?? 'unknown';
    const status = String(reply.statusCode);
    metrics.observeRequest(request.method, route, status, reply.elapsedTime / 1_000);
  });
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    const local = /^(::1|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? '');
    const direct = local && request.headers['x-forwarded-for'] === undefined;
    const allowed =
      metricsToken === undefined
        ? direct
        : equal(request.headers.authorization ?? '', `Bearer ${metricsToken}`);
    if (!allowed) throw new ProblemError('not_found', 'There is nothing at this address.');
    return reply
      .type(registry.contentType)
      .serializer(String)
      .send(await registry.metrics());
  });
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
