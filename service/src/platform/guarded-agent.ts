import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { type AddressRule, isAllowedAddress } from './public-address.ts';

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

/**
 * Creates an HTTP agent that connects only to public addresses, to prevent server-side request forgery (SSRF). The
 * agent checks every address that DNS returns. It also checks the remote address of the socket, because Node doesn't
 * look up literal addresses, and because DNS may return a different address later.
 */
export function createGuardedAgent(
  rule: AddressRule,
  resolve: Resolve = lookup,
  connectTimeoutMs = 10_000,
): Agent {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(rule, resolve),
  });
  return new Agent({
    // The number of connections is unlimited, so that accounts which send requests to the same host don't wait for each
    // other. Callers limit the number of concurrent requests.
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
      // A private address among public addresses indicates DNS rebinding.
      const blocked = addresses.find(({ address }) => !isAllowedAddress(address, rule));
      if (blocked) return callback(new BlockedAddressError(blocked.address), []);
      const [first] = addresses;
      if (options.all === true || !first) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
