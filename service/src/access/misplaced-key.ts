import ipaddr from 'ipaddr.js';
import type { Environment } from './principal.ts';

/** Names that no public site has: RFC 2606, RFC 6762 and names without a dot. */
const isLocalName = (host: string): boolean =>
  !host.includes('.') || /\.(?:localhost|local|test|internal|lan|home\.arpa)$/.test(host);

const isLocalHost = (host: string): boolean => {
  const address = host.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(address)
    ? ipaddr.process(address).range() !== 'unicast'
    : isLocalName(host);
};

/**
 * Whether a publishable key is used on a page that belongs to the other environment: a sandbox key on a public site, or
 * a live key on a developer's machine. Pages of apps, such as `capacitor://localhost` and `https://localhost`, belong to
 * both, so only a local server with a port counts as a developer's machine.
 */
export function isMisplaced(environment: Environment, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port } = new URL(origin);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  const isLocal = isLocalHost(hostname);
  return environment === 'sandbox' ? !isLocal : isLocal && port !== '';
}
