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
/** NAT64 (RFC 6052): in IPv6-only networks, DNS64 maps every IPv4 address to this prefix. */
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Whether the service may connect to an IP address. Addresses in private, loopback, link-local, cloud metadata and
 * other special ranges are not allowed. Neither are IPv6 addresses that embed an IPv4 address, except for NAT64. For
 * NAT64, the embedded address is checked.
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

const isNat64 = (address: string): boolean =>
  ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).match(nat64);

export interface UrlRule {
  /** Whether the service runs in development mode and the URL is for the sandbox. */
  development: boolean;
}

/**
 * Checks a URL that the service will request. Returns the problem, or undefined if there is none. Checks literal IP
 * addresses, but not host names. Those are checked when the service connects to them.
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
