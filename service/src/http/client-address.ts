import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

/**
 * Tells the address of the client: whoever connects, or, when that is a load balancer of ours, whom
 * it names in `X-Forwarded-For`. Fastify's `request.ip` goes by the same code.
 */
export function createClientAddress(
  trustedProxies: readonly string[] | undefined,
): (request: IncomingMessage) => string {
  if (trustedProxies === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const trusted = proxyAddr.compile([...trustedProxies]);
  return (request) => proxyAddr(request, trusted);
}
