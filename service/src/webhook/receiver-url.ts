import ipaddr from 'ipaddr.js';
import { isAllowedAddress, isTranslated } from './guarded-agent.ts';

interface UrlRule {
  /** The service runs for development, and the webhook belongs to the sandbox. */
  development: boolean;
}

/**
 * Why webhooks cannot go to this address, or undefined when they can. Names are looked up only when
 * a delivery is made; a literal address of the wrong kind is refused at once.
 */
export function refuseUrl(text: string, { development }: UrlRule): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute address';
  const url = new URL(text);
  // A trailing dot marks a name as complete: `localhost.` is this machine too.
  const host = url.hostname.replace(/^\[|[\].]$/g, '');
  const literal = ipaddr.isValid(host);
  const local =
    host === 'localhost' || host.endsWith('.localhost') || (literal && isLoopback(host));
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (url.protocol === 'http:' && local && development) return undefined;
  if (url.protocol !== 'https:') return 'must be an https address';
  if (local) return development ? undefined : 'must not be this machine';
  if (literal && (isTranslated(host) || !isAllowedAddress(host, { loopback: false })))
    return 'must be on the public internet';
  return undefined;
}

const isLoopback = (host: string): boolean =>
  !isAllowedAddress(host, { loopback: false }) && isAllowedAddress(host, { loopback: true });
