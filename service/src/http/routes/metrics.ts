import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problem.ts';
import type { ServiceMetrics } from '../service-metrics.ts';

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
