import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

/** What identifies a client to a trusted proxy: the headers, and the connection. */
type EdgeRequest = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Returns a function that rewrites the `X-Forwarded-For` header of requests from trusted proxies, so that everything
 * behind it sees only IP addresses. Must be called before the request is routed.
 *
 * - Ports are removed: Azure Application Gateway sends `203.0.113.7:50001`, others `[2001:db8::7]:443`.
 * - If the header is absent, `Forwarded` (RFC 7239) is used instead. If a proxy sends only one of them, it must not pass
 *   on the other.
 * - An entry that is not an IP address, such as `unknown`, ends the chain: the client is then the proxy that reported it.
 */
export function createAddressEdge(
  trustedProxies: readonly string[] | undefined,
): (request: EdgeRequest) => void {
  const isTrusted = proxyAddr.compile([...(trustedProxies ?? [])]);
  return ({ headers, socket }) => {
    const { 'x-forwarded-for': list, forwarded } = headers;
    if (list === undefined && forwarded === undefined) return;
    const peer = socket.remoteAddress ?? '';
    // Behind this function, the header is ignored if the peer is not trusted.
    if (trustedProxies === undefined || !isTrusted(peer, 0)) return;
    const text = Array.isArray(list) ? list.join(',') : list;
    const entries = text === undefined ? listForwarded(forwarded ?? '') : text.split(',');
    const addresses: string[] = [];
    // The last entry comes from the nearest proxy.
    for (const entry of entries.toReversed()) {
      const address = parseAddress(entry);
      if (address === undefined) break;
      addresses.unshift(address);
      if (addresses.length === maxHops) break;
    }
    headers['x-forwarded-for'] = addresses.length > 0 ? addresses.join(', ') : peer;
  };
}

/** Returns a client's address in its one form. A server that listens on IPv6 sees IPv4 clients as IPv6 ones. */
export const readAddress = ({ ip }: { ip: string }): string =>
  ip.includes(':') ? (parseAddress(ip) ?? ip) : ip;

/** Maximum number of proxies in front of the service. The client could have written the rest of a longer list. */
const maxHops = 32;

/**
 * Returns an IP address without its port, zone and brackets, or undefined if the text is not an address. IPv4 addresses
 * in IPv6 notation become IPv4 addresses.
 */
export function parseAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > maxAddressLength) return undefined;
  const [, bracketed, plain = ''] =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed) ??
    /^()(\d[\d.]*)(?::\d{1,5})?$/.exec(trimmed) ??
    [];
  const address = bracketed || plain || trimmed;
  const withoutZone = address.replace(/%[\w.-]+$/, '');
  switch (isIP(withoutZone)) {
    case 4:
      return withoutZone;
    case 6:
      return formatIPv6(withoutZone);
    default:
      return undefined;
  }
}

/** Returns the one form of an IPv6 address (RFC 5952), whatever its spelling, or the IPv4 address that it stands for. */
function formatIPv6(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const bytes = [high, low].map((group) => parseInt(group, 16)).flatMap((n) => [n >> 8, n & 255]);
  return bytes.join('.');
}

/** An IPv6 address with brackets, a zone and a port. */
const maxAddressLength = 100;

/** Returns the `for` parameter of each element of a `Forwarded` header, or '' for an element that has none. */
function listForwarded(header: string): string[] {
  // Addresses contain neither commas nor semicolons, so quoted strings need not be parsed.
  return header.split(',').map((element) => {
    const pairs = element.split(';').map((pair) => pair.trim());
    const value = pairs.find((pair) => /^for=/i.test(pair))?.slice('for='.length) ?? '';
    return value.replace(/^"(.*)"$/, '$1');
  });
}
