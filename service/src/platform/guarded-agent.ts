import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which non-public addresses the service may connect to on behalf of an operator. */
export interface AddressRule {
  /** Allows loopback addresses, for development. */
  loopback: boolean;
}

/**
 * The IPv6 addresses of the public internet (RFC 4291). Other ranges have special uses, such as embedding IPv4
 * addresses.
 */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/**
 * Addresses that look public, but are reached only from inside a cloud: Azure's virtual service address, and the private
 * endpoints of IBM Cloud. The other clouds use link-local and special addresses.
 */
const insideClouds = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((network) =>
  ipaddr.IPv4.parseCIDR(network),
);
/** The NAT64 well-known prefix (RFC 6052). In IPv6-only networks, DNS64 returns IPv4 addresses embedded in it. */
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Whether the service may connect to an IP address. Addresses in private, loopback, link-local, cloud metadata and
 * other special ranges are not allowed. Neither are IPv6 addresses that embed an IPv4 address, except NAT64 addresses,
 * whose embedded address is checked.
 */
export function isAllowedAddress(address: string, rule: AddressRule): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (rule.loopback && range === 'loopback') return true;
  if (parsed instanceof ipaddr.IPv4) return isPublicIpv4(parsed);
  if (parsed.match(nat64)) return isPublicIpv4(new ipaddr.IPv4(parsed.toByteArray().slice(12)));
  return range === 'unicast' && parsed.match(globalUnicast);
}

const isPublicIpv4 = (address: ipaddr.IPv4): boolean =>
  address.range() === 'unicast' && !insideClouds.some((network) => address.match(network));

const isNat64 = (address: string): boolean =>
  ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).match(nat64);

export interface UrlRule {
  /** Whether the service runs in development mode and the URL is for the sandbox. */
  development: boolean;
}

/**
 * Checks a URL that the service will request. Returns the problem, or undefined if there is none. Checks IP literals,
 * but not host names, which are checked when the service connects to them.
 */
export function findUrlProblem(text: string, { development }: UrlRule): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  // Removes the trailing dot of a fully qualified name, so that `localhost.` counts as `localhost`.
  const host = url.hostname.replace(/^\[|[\].]$/g, '');
  const isLiteral = ipaddr.isValid(host);
  const isLocalHost =
    host === 'localhost' || host.endsWith('.localhost') || (isLiteral && isLoopback(host));
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.protocol === 'http:' && isLocalHost && development) return undefined;
  if (url.protocol !== 'https:') return 'must be an https URL';
  if (isLocalHost) return development ? undefined : 'must not be a loopback address';
  if (isLiteral && (isNat64(host) || !isAllowedAddress(host, { loopback: false })))
    return 'must be on the public internet';
  return undefined;
}

const isLoopback = (host: string): boolean =>
  !isAllowedAddress(host, { loopback: false }) && isAllowedAddress(host, { loopback: true });

/** Thrown when a request would connect to an IP address that the {@link AddressRule} does not allow. */
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

/** What a request sends before its body. */
export interface RequestHead {
  method: string;
  headers: Readonly<Record<string, string>>;
}

/** Makes requests to addresses that an {@link AddressRule} allows, on connections that are reused. */
export interface GuardedAgent {
  /**
   * Begins a request. The caller ends it, and listens to its errors.
   *
   * @throws BlockedAddressError when the URL names an IP address that is not allowed
   * @throws TypeError for a header that can't be sent
   */
  request(url: URL, head: RequestHead): ClientRequest;
  /** Closes all connections. */
  destroy(): void;
}

/** How long a connection waits for its next request, in milliseconds, unless its server said a shorter time. */
const idleMs = 10_000;

/**
 * Creates an HTTP agent that connects only to public addresses, to prevent server-side request forgery (SSRF). This is
 * the only place that decides where requests on behalf of an account may go. It checks before it connects, so an inside
 * address doesn't even see a connection: IP literals, for which Node makes no DNS lookup, and every address that DNS
 * returns. The socket connects to one of the addresses that were checked, so a name can't be rebound in between.
 *
 * Uses Node's own client, because undici ends a connection on which `100 Continue` arrives, which some receivers send
 * without being asked. A client must accept it (RFC 9110, section 15.2).
 */
export function createGuardedAgent(rule: AddressRule, resolve: Resolve = lookup): GuardedAgent {
  // The number of connections is unlimited, so that accounts that send requests to the same host don't wait for each
  // other. Callers limit the number of concurrent requests, and the time for each.
  const options = { keepAlive: true, timeout: idleMs, lookup: guardedLookup(rule, resolve) };
  const [http, https] = [new HttpAgent(options), new HttpsAgent(options)];
  return {
    request(url, head) {
      const literal = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(literal) !== 0 && !isAllowedAddress(literal, rule))
        throw new BlockedAddressError(literal);
      return url.protocol === 'https:'
        ? requestHttps(url, { ...head, agent: https })
        : requestHttp(url, { ...head, agent: http });
    },
    destroy() {
      http.destroy();
      https.destroy();
    },
  };
}

/** `strict` connects only to public IPs. `development` also connects to loopback IPs. */
export interface GuardedAgents {
  strict: GuardedAgent;
  development: GuardedAgent;
}

/** Creates both guarded agents. Destroy them together. */
export function createGuardedAgents(): GuardedAgents & { destroy(): void } {
  const [strict, development] = [
    createGuardedAgent({ loopback: false }),
    createGuardedAgent({ loopback: true }),
  ];
  return {
    strict,
    development,
    destroy() {
      strict.destroy();
      development.destroy();
    },
  };
}

const guardedLookup =
  (rule: AddressRule, resolve: Resolve): LookupFunction =>
  (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // A private address among public addresses indicates DNS rebinding.
      const blockedAddress = addresses.find(({ address }) => !isAllowedAddress(address, rule));
      if (blockedAddress) return callback(new BlockedAddressError(blockedAddress.address), []);
      const [first] = addresses;
      if (options.all === true || !first) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
