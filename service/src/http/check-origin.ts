import type { FastifyRequest } from 'fastify';
import { ProblemError } from './problem.ts';

/**
 * Refuses what another site's page sends with a user's cookie. `Host` counts beside the address that
 * the service is known by, so that `localhost` works as `127.0.0.1` does; no page can forge either.
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
    `The request came from ${origin ?? 'an unnamed origin'}, not from ${own}. If that is where your panel is, set PUBLIC_URL to it.`,
  );
}
