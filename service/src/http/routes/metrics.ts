import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../../store/database.ts';
import { ProblemError } from '../problem.ts';

interface Parts {
  database: Database;
  /** Who asks has to bring it; absent: only this machine may ask, and not through a proxy. */
  metricsToken: string | undefined;
}

const pendingDeliveries = `SELECT count(*)::bigint AS count FROM deliveries WHERE state = 'pending'`;

const disabledWebhooks = `SELECT count(*)::bigint AS count FROM resources
  WHERE kind = 'webhook' AND archived_at IS NULL AND document->>'disabled_reason' IN ('gone', 'failing')`;

/** `/metrics` for Prometheus: the process, requests by route, and how webhooks are doing. */
export function addMetrics(app: FastifyInstance, { database, metricsToken }: Parts): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'trueward_http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers: [registry],
  });
  const pending = new Gauge({
    name: 'trueward_webhook_deliveries_pending',
    help: 'Deliveries that wait for their next attempt.',
    registers: [registry],
  });
  const disabled = new Gauge({
    name: 'trueward_webhooks_disabled',
    help: 'Webhooks that the service took out of use because they were gone or failed for days.',
    registers: [registry],
  });
  const count = async (statement: string): Promise<number> =>
    (await database.query<{ count: number }>(statement))[0]?.count ?? 0;
  app.addHook('onResponse', async (request, reply) => {
    // The pattern, not the address: an address would make a series of its own.
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    requests.observe(labels, reply.elapsedTime / 1_000);
  });
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    const local = /^(::1|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? '');
    const direct = local && request.headers['x-forwarded-for'] === undefined;
    const allowed =
      metricsToken === undefined
        ? direct
        : equal(request.headers.authorization ?? '', `Bearer ${metricsToken}`);
    if (!allowed) throw new ProblemError('not_found', 'There is nothing at this address.');
    pending.set(await count(pendingDeliveries));
    disabled.set(await count(disabledWebhooks));
    return reply
      .type(registry.contentType)
      .serializer(String)
      .send(await registry.metrics());
  });
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
