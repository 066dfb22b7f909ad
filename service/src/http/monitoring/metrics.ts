import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Configuration } from '../../decision/configuration.ts';
import { countMistakes } from '../../history/latest-mistakes.ts';
import { monotonicMs } from '../../platform/time.ts';
import { type Database, forReads } from '../../store/database.ts';
import type { ClockState } from '../../store/database-clock.ts';
import type { Lane } from '../../store/group-commit.ts';
import { ProblemError } from '../problem.ts';
import {
  addDemandState,
  createDemandMetrics,
  type DemandMetrics,
  type DemandSources,
} from './demand-metrics.ts';
import { isReadOnly } from './health.ts';

/** Metrics that are recorded when a request, database operation or webhook attempt finishes. */
export interface ServiceMetrics {
  registry: Registry;
  observeRequest(method: string, route: string, status: string, seconds: number): void;
  observeDatabase(kind: 'statement' | 'transaction', seconds: number): void;
  observeDelivery(outcome: string, seconds: number): void;
  demand: DemandMetrics;
}

/** Providers of the state metrics, which are read on each scrape. */
interface MetricSources extends DemandSources {
  database: Database;
  configuration: Configuration;
  lanes: Record<string, Pick<Lane<never, unknown>, 'waiting'>>;
  heldRequests(): number;
  /** Undefined for a test clock. */
  clockState?: (() => ClockState) | undefined;
}

const shortBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Creates metrics for the process, requests by route, database time, and webhook attempts. */
export function createServiceMetrics(): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Removes gauges that are named like counters. The metrics without `_total` provide the same values by type.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const requests = new Histogram({
    name: 'trueward_http_request_duration_seconds',
    help: 'Duration of HTTP requests.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  const database = new Histogram({
    name: 'trueward_database_duration_seconds',
    help: 'Duration of individual statements and of whole transactions, including the wait for a connection.',
    labelNames: ['kind'] as const,
    buckets: shortBuckets,
    registers,
  });
  const deliveries = new Histogram({
    name: 'trueward_webhook_attempt_duration_seconds',
    help: 'Duration of webhook attempts, by outcome.',
    labelNames: ['outcome'] as const,
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const observeRequest = cacheSeries(requests);
  const observeDatabase = cacheSeries(database);
  const observeDelivery = cacheSeries(deliveries);
  return {
    registry,
    observeRequest: (method, route, status, seconds) =>
      observeRequest(seconds, method, route, status),
    observeDatabase: (kind, seconds) => observeDatabase(seconds, kind),
    observeDelivery: (outcome, seconds) => observeDelivery(seconds, outcome),
    demand: createDemandMetrics(registry),
  };
}

/**
 * Returns a function that observes a value. Caches the series, because looking one up by its labels takes longer than
 * observing a value.
 */
function cacheSeries<T extends string>(histogram: Histogram<T>) {
  const cache = new Map<string, ReturnType<typeof histogram.labels>>();
  return (seconds: number, ...labels: string[]): void => {
    const key = labels.join(' ');
    const series = cache.get(key) ?? histogram.labels(...labels);
    cache.set(key, series);
    series.observe(seconds);
  };
}

/** Counts are capped here, because the exact number beyond this does not matter. */
const maxCount = 10_000;
/** How long a count is cached, regardless of the scrape interval. */
const countCacheMs = 15_000;
const pendingDeliveries = `SELECT count(*)::bigint AS value FROM (
    SELECT 1 FROM delivery_queue ORDER BY next_at LIMIT ${maxCount + 1}) AS pending`;
const oldestDue = `SELECT coalesce(extract(epoch FROM $1::timestamptz - min(next_at)), 0)::float8 AS value
  FROM delivery_queue WHERE next_at < $1`;

/** Reads at most one row from each table, so its cost does not depend on the size of the tables. */
const defaultPartitionUsed = `SELECT (EXISTS (SELECT 1 FROM decisions_other)
  OR EXISTS (SELECT 1 FROM timelines_other)
  OR EXISTS (SELECT 1 FROM decision_demand_other) OR EXISTS (SELECT 1 FROM tracker_requests_other)
  OR EXISTS (SELECT 1 FROM webhook_events_other) OR EXISTS (SELECT 1 FROM finished_deliveries_other))::integer AS value`;

/** Adds metrics for the current state of the service and its database. */
export function addStateMetrics(registry: Registry, sources: MetricSources): void {
  const { database, configuration, lanes, heldRequests, clock, clockState } = sources;
  addLabeled(registry, 'trueward_queue_length', 'Writes waiting for the next commit.', () =>
    Object.entries(lanes).map(([lane, { waiting }]) => [lane, waiting()]),
  );
  // This metric must come before the metrics that query the database. Otherwise, it would include their queries.
  addLabeled(
    registry,
    'trueward_database_connections',
    "This process's open and idle database connections, and callers waiting for one.",
    () => Object.entries(database.connections?.() ?? {}),
  );
  const addGauge = (name: string, help: string, read: () => Promise<number> | number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        try {
          this.set(await read());
        } catch {
          this.reset(); // the database is unavailable, as trueward_database_up reports
        }
      },
    });
  };
  const count = async (statement: string, ...params: Date[]): Promise<number> =>
    (await forReads(database).query<{ value: number }>(statement, params))[0]?.value ?? 0;

  addDemandState(registry, sources);
  addGauge(
    'trueward_held_requests',
    'Long-polling requests (wait_s) that are waiting for a reward.',
    heldRequests,
  );
  addGauge('trueward_database_up', 'Whether the database is available: 1 or 0.', () =>
    isReadOnly(database).then(
      () => 1,
      () => 0,
    ),
  );
  addGauge('trueward_database_read_only', 'Whether the database is read-only: 1 or 0.', async () =>
    Number(await isReadOnly(database)),
  );
  addGauge(
    'trueward_database_disk_full',
    'Whether writes fail because the disk is full: 1 or 0.',
    () => Number(database.isFull?.() === true),
  );
  addGauge(
    'trueward_webhook_deliveries_pending',
    `Deliveries waiting for their next attempt, cached for 15 s; ${maxCount + 1} means more than ${maxCount}.`,
    cacheFor(countCacheMs, () => count(pendingDeliveries)),
  );
  addGauge(
    'trueward_webhook_overdue_seconds',
    'How long the oldest pending delivery has been overdue.',
    () => count(oldestDue, new Date(clock.nowMs())),
  );
  addGauge(
    'trueward_webhooks_disabled',
    'Webhooks that the service disabled because their endpoint was gone or had failed for days.',
    configuration.disabledWebhooks,
  );
  addGauge(
    'trueward_default_partition_used',
    'Whether the default partitions contain decisions or events: 1 or 0.',
    () => count(defaultPartitionUsed),
  );
  addGauge(
    'trueward_configuration_age_seconds',
    "Age of this process's copy of the configuration, including kill switches.",
    configuration.ageS,
  );
  addMistakes(registry, sources);
  if (clockState === undefined) return;
  addGauge(
    'trueward_clock_offset_seconds',
    "How far the service's time is ahead of this machine's wall clock.",
    () => clockState().aheadOfMachineMs / 1_000,
  );
  addGauge(
    'trueward_clock_behind_seconds',
    "How far the database's clock is ahead of the service's time, which approaches it slowly.",
    () => clockState().behindMs / 1_000,
  );
  addGauge(
    'trueward_clock_uncertainty_seconds',
    "The most by which the last measurement of the database's clock can be wrong by now.",
    () => clockState().uncertaintyMs / 1_000,
  );
}

/** How long the counts of mistakes are cached. What they come from is a day long. */
const mistakeCacheMs = 300_000;

function addMistakes(registry: Registry, { database, clock }: MetricSources): void {
  const read = cacheFor(mistakeCacheMs, () => countMistakes(database, clock));
  new Gauge({
    name: 'trueward_integration_mistakes',
    help: 'Environments with each probable mistake in the integration, among the 20 used last, cached for 5 min.',
    labelNames: ['name'] as const,
    registers: [registry],
    async collect() {
      this.reset();
      // If the database is unavailable, trueward_database_up reports it.
      const counts = await read().catch(() => new Map<string, number>());
      for (const [name, value] of counts) this.set({ name }, value);
    },
  });
}

/** Caches a value for `ms` milliseconds. */
function cacheFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let cached: { value: T; readAtMs: number } | undefined;
  return async () => {
    const nowMs = monotonicMs();
    if (!cached || nowMs - cached.readAtMs >= ms) cached = { value: await read(), readAtMs: nowMs };
    return cached.value;
  };
}

function addLabeled(
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

interface Deps {
  metrics: ServiceMetrics;
  /** The required bearer token; if undefined, only direct requests from this machine may read the metrics. */
  metricsToken: string | undefined;
}

/** Adds `/metrics` for Prometheus. */
export function addMetrics(app: FastifyInstance, { metrics, metricsToken }: Deps): void {
  const { registry } = metrics;
  app.addHook('onResponse', (request, reply, done) => {
    // Uses the route instead of the URL, because every URL would become a separate series.
    const route = request.routeOptions.url ?? 'unknown';
    const status = String(reply.statusCode);
    metrics.observeRequest(request.method, route, status, reply.elapsedTime / 1_000);
    done();
  });
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    const isLocal = /^(::1|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? '');
    const { 'x-forwarded-for': list, forwarded } = request.headers;
    const isDirect = isLocal && list === undefined && forwarded === undefined;
    const isAllowed =
      metricsToken === undefined
        ? isDirect
        : equalsInConstantTime(request.headers.authorization ?? '', `Bearer ${metricsToken}`);
    if (!isAllowed) throw new ProblemError('not_found', 'There is no such endpoint.');
    return reply
      .type(registry.contentType)
      .serializer(String)
      .send(await registry.metrics());
  });
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equalsInConstantTime = (a: string, b: string): boolean =>
  timingSafeEqual(digest(a), digest(b));
