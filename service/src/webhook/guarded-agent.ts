import ipaddr from 'ipaddr.js';
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';

/** The receiver's address is not one that webhooks may be sent to. */
export class AddressRefusedError extends Error {
  constructor(address: string) {
    super(`The address ${address} is not on the public internet.`);
    this.name = 'AddressRefusedError';
  }
}

/** Asks DNS for every address of a name. */
type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * An HTTP agent that connects to public addresses only. It looks at every address that DNS gives,
 * and at the one that the socket really reached: Node asks no DNS for a literal address, and DNS
 * may answer otherwise a moment later.
 */
export function createGuardedAgent(rule: AddressRule, resolve: Resolve = lookup): Agent {
  const connect = buildConnector({ timeout: 10_000, lookup: guardedLookup(rule, resolve) });
  return new Agent({
    // As many as the concurrency windows ask for: accounts that deliver to the same host do not wait for each
    // other. Each connection has one request at a time.
    connections: null,
    keepAliveTimeout: 10_000,
    connect(options, callback) {
      connect(options, (...result) => {
        const [error, socket] = result;
        if (error !== null) return callback(error, null);
        const address = (socket as Socket).remoteAddress ?? 'unknown';
        if (isAllowedAddress(address, rule)) return callback(null, socket);
        socket.destroy();
        callback(new AddressRefusedError(address), null);
      });
    },
  });
}

const guardedLookup =
  (rule: AddressRule, resolve: Resolve): LookupFunction =>
  (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // One private answer among public ones is how a name is rebound.
      const refused = addresses.find(({ address }) => !isAllowedAddress(address, rule));
      if (refused) return callback(new AddressRefusedError(refused.address), []);
      const [first] = addresses;
      if (options.all === true || !first) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };

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
