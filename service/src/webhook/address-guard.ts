import ipaddr from 'ipaddr.js';

/** Where a webhook may be delivered to. */
export interface AddressRule {
  /** This machine as well; for development. */
  loopback: boolean;
}

/** Everything assigned to the public internet (RFC 4291). Ranges outside of it have other uses, such as embedded IPv4. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** NAT64 (RFC 6052): in a network without IPv4, DNS64 maps every IPv4 receiver to this prefix. */
const translated: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Whether an address, as a socket or DNS says it, is one of the public internet: not private,
 * loopback, link-local, of cloud metadata, or any other special range, and not an IPv6 address with an
 * embedded IPv4 address, in whatever form it is written. Only for NAT64 the embedded address decides.
 */
export function isAllowedAddress(address: string, rule: AddressRule): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (rule.loopback && range === 'loopback') return true;
  if (parsed instanceof ipaddr.IPv4) return range === 'unicast';
  if (parsed.match(translated))
    return new ipaddr.IPv4(parsed.toByteArray().slice(12)).range() === 'unicast';
  return range === 'unicast' && parsed.match(globalUnicast);
}

/** Whether it is a NAT64 address, which no receiver has as its own. */
export const isTranslated = (address: string): boolean =>
  ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).match(translated);
