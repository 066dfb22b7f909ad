import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

/** What a request tells of who sent it. */
export interface Sender {
  headers: IncomingHttpHeaders;
  socket: Pick<Socket, 'remoteAddress'>;
}

export type ClientAddress = (sender: Sender) => string;

/**
 * Tells the address of the client: whoever connects, or, when that is a load balancer of ours, whom
 * it names in `X-Forwarded-For`. Fastify's `request.ip` goes by the same code.
 */
export function createClientAddress(trustedProxies: readonly string[] | undefined): ClientAddress {
  if (trustedProxies === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const trusted = proxyAddr.compile([...trustedProxies]);
  // It reads these two members.
  return (sender) => proxyAddr(sender as IncomingMessage, trusted);
}
