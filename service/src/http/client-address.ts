import ipaddr from 'ipaddr.js';

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
