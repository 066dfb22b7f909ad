import ipaddr from 'ipaddr.js';

/** Where a webhook may be delivered to. */
export interface AddressRule {
  /** This machine as well; for development. */
  loopback: boolean;
}

/** IPv6 ranges that carry an IPv4 address: NAT64 (RFC 6052) and 6to4 (RFC 3056), with its first byte. */
const carriers: { prefix: [ipaddr.IPv6, number]; offset: number }[] = [
  { prefix: [ipaddr.IPv6.parse('64:ff9b::'), 96], offset: 12 },
  { prefix: [ipaddr.IPv6.parse('2002::'), 16], offset: 2 },
];

/**
 * Whether an address, as a socket or DNS says it, is one of the public internet: not private,
 * loopback, link-local, of cloud metadata, or any other special range, in whatever form it is written.
 */
export function isAllowedAddress(address: string, rule: AddressRule): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `process` unwraps ::ffff:127.0.0.1.
  const parsed = unwrap(ipaddr.process(address));
  const range = parsed.range();
  return range === 'unicast' || (rule.loopback && range === 'loopback');
}

function unwrap(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const v6 = address as ipaddr.IPv6;
  const carrier = carriers.find(({ prefix }) => v6.match(prefix));
  if (!carrier) return address;
  return new ipaddr.IPv4(v6.toByteArray().slice(carrier.offset, carrier.offset + 4));
}
