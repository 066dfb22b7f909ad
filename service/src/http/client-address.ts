import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

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

/**
 * The key of limits by address: an IPv4 address, or the /64 of an IPv6 address. Providers give each customer
 * at least a /64, so one device has 2^64 addresses to choose from.
 */
export function addressGroup(address: string): string {
  // Mostly IPv4, which needs no parsing.
  if (!address.includes(':')) return address;
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const prefix = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}
