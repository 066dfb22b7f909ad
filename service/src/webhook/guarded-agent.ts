import ipaddr from 'ipaddr.js';
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';

/** Webhooks must not be sent to this IP address. */
export class BlockedAddressError extends Error {
  constructor(address: string) {
    super(`The address ${address} is not on the public internet.`);
    this.name = 'BlockedAddressError';
  }
}

/** Resolves a host name to all of its addresses. */
type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Creates an HTTP agent that connects to public addresses only, to prevent server-side request forgery (SSRF). It
 * checks every resolved address and the remote address of the socket: Node does not resolve literal addresses, and
 * DNS may return a different address later.
 */
export function createGuardedAgent(rule: AddressRule, resolve: Resolve = lookup): Agent {
  const connect = buildConnector({ timeout: 10_000, lookup: guardedLookup(rule, resolve) });
  return new Agent({
    // Unlimited: the concurrency windows limit requests, and accounts that deliver to the same host must not wait
    // for each other. Each connection has one request at a time.
    connections: null,
    keepAliveTimeout: 10_000,
    connect(options, callback) {
      connect(options, (...result) => {
        const [error, socket] = result;
        if (error !== null) return callback(error, null);
        const address = (socket as Socket).remoteAddress ?? 'unknown';
        if (isAllowedAddress(address, rule)) return callback(null, socket);
        socket.destroy();
        callback(new BlockedAddressError(address), null);
      });
    },
  });
}

const guardedLookup =
  (rule: AddressRule, resolve: Resolve): LookupFunction =>
  (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // A single private address among public ones indicates DNS rebinding.
      const blocked = addresses.find(({ address }) => !isAllowedAddress(address, rule));
      if (blocked) return callback(new BlockedAddressError(blocked.address), []);
      const [first] = addresses;
      if (options.all === true || !first) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };

/** Which addresses webhooks may be delivered to, besides public ones. */
export interface AddressRule {
  /** Allows loopback addresses, for development. */
  loopback: boolean;
}

/** Everything assigned to the public internet (RFC 4291). Other ranges have special uses, such as embedded IPv4. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** NAT64 (RFC 6052): in IPv6-only networks, DNS64 maps every IPv4 address to this prefix. */
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Whether an IP address is on the public internet, that is, not in a private, loopback, link-local, cloud metadata
 * or other special range. IPv6 addresses that embed an IPv4 address are rejected, except for NAT64, where the
 * embedded address is checked instead.
 */
export function isAllowedAddress(address: string, rule: AddressRule): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (rule.loopback && range === 'loopback') return true;
  if (parsed instanceof ipaddr.IPv4) return range === 'unicast';
  if (parsed.match(nat64))
    return new ipaddr.IPv4(parsed.toByteArray().slice(12)).range() === 'unicast';
  return range === 'unicast' && parsed.match(globalUnicast);
}

/** Whether this is a NAT64 address, which no receiver has itself. */
const isNat64 = (address: string): boolean =>
  ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).match(nat64);

interface UrlRule {
  /** Whether the service is in development mode and the webhook belongs to the sandbox. */
  development: boolean;
}

/**
 * Returns what is wrong with the URL of a webhook endpoint, or undefined if it is valid. Literal IP addresses are
 * checked here, host names only at delivery.
 */
export function findUrlProblem(text: string, { development }: UrlRule): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  // A trailing dot marks a fully qualified name: `localhost.` is loopback too.
  const host = url.hostname.replace(/^\[|[\].]$/g, '');
  const literal = ipaddr.isValid(host);
  const local =
    host === 'localhost' || host.endsWith('.localhost') || (literal && isLoopback(host));
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.protocol === 'http:' && local && development) return undefined;
  if (url.protocol !== 'https:') return 'must be an https URL';
  if (local) return development ? undefined : 'must not be a loopback address';
  if (literal && (isNat64(host) || !isAllowedAddress(host, { loopback: false })))
    return 'must be on the public internet';
  return undefined;
}

const isLoopback = (host: string): boolean =>
  !isAllowedAddress(host, { loopback: false }) && isAllowedAddress(host, { loopback: true });
