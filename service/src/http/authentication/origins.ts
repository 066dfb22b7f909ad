import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.ts';

/**
 * Lets pages of this origin read the response. Preflights carry no key, so the allowed origins of a key are
 * checked on the actual request.
 */
export function allowOrigin(reply: FastifyReply, origin: string): void {
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Request-Id, Retry-After',
    vary: 'Origin',
  });
}

/** The paths that accept publishable keys. */
const publishablePaths = ['/v1/decisions', '/v1/decisions/:id', '/v1/events'];

/** Answers CORS preflight requests. */
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

/**
 * Rejects requests that another site's page sends with a user's cookie. Accepts the origin of `Host` besides
 * the public URL, so that `localhost` works like `127.0.0.1`; no page can forge either.
 *
 * @throws ProblemError `csrf_failed`
 */
export function checkOrigin(request: FastifyRequest, address: string): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const { origin: own, protocol } = new URL(address);
  const reads = request.method === 'GET';
  const fromHere =
    (origin === undefined && reads) || origin === own || origin === `${protocol}//${host}`;
  const sameSite = site === undefined || site === 'same-origin' || (reads && site === 'none');
  if (fromHere && sameSite) return;
  throw new ProblemError(
    'csrf_failed',
    `The request came from ${origin ?? 'an unnamed origin'}, not from ${own}. If your panel is there, set PUBLIC_URL to it.`,
  );
}
