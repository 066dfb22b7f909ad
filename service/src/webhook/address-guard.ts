import ipaddr from 'ipaddr.js';

/** Where a webhook may be delivered to. */
export interface AddressRule {
  /** This machine as well; for development. */
  loopback: boolean;
}

/** All that is handed out for the public internet (RFC 4291). What lies outside carries other things, IPv4 among them. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** IPv4 behind a translator (RFC 6052): in a network without IPv4, DNS says so of every IPv4 receiver. */
const translated: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Whether an address, as a socket or DNS says it, is one of the public internet: not private,
 * loopback, link-local, of cloud metadata, or any other special range, and no IPv6 address that has an
 * IPv4 address inside, in whatever form it is written. Only translated IPv4 is judged by what it means.
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

/** Whether it is an IPv6 address that stands for an IPv4 address by way of a translator: no receiver's own. */
export const isTranslated = (address: string): boolean =>
  ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).match(translated);
