import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * Lets a page of this origin read the answer. A preflight carries no key, so which origins a key
 * allows is checked on the request itself.
 */
export function allowOrigin(reply: FastifyReply, origin: string): void {
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Request-Id, Retry-After',
    vary: 'Origin',
  });
}

/** The addresses that publishable keys may use. */
const publishablePaths = ['/v1/decisions', '/v1/decisions/:id', '/v1/events'];

/** Answers the preflight requests of pages. */
export function addPreflight(app: FastifyInstance): void {
  for (const url of publishablePaths) {
    app.options(url, { schema: { hide: true } }, (request, reply) => {
      allowOrigin(reply, request.headers.origin ?? '*');
      return reply
        .headers({
          'access-control-allow-methods': 'GET, POST',
          'access-control-allow-headers': 'Authorization, Content-Type, Decision-Token',
          'access-control-max-age': '7200',
        })
        .code(204)
        .send();
    });
  }
}
