import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isAllowedAddress, type AddressRule } from './address-guard.ts';

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
