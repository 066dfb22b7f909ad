import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

/** In which country a player is, as the load balancer or delivery network before the service says. */
export interface Country {
  /** Takes the header off a request that comes from anybody else, who could write anything into it. */
  screen(request: Pick<IncomingMessage, 'headers' | 'socket'>): void;
  /** ISO 3166-1 alpha-2; undefined when nobody says. */
  of(headers: IncomingHttpHeaders): string | undefined;
}

/** @param header Its name in small letters, such as `cf-ipcountry`; undefined: countries are not known. */
export function createCountry(
  header: string | undefined,
  trustedProxies: readonly string[] = [],
): Country {
  if (header === undefined) return { screen: () => undefined, of: () => undefined };
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return {
    screen({ headers, socket }) {
      if (header in headers && !isTrusted(socket.remoteAddress ?? '', 0)) delete headers[header];
    },
    of(headers) {
      const value = headers[header];
      // Networks write XX, T1 and the like where they do not know.
      return typeof value === 'string' && /^[a-z]{2}$/i.test(value) && !/^xx$/i.test(value)
        ? value.toUpperCase()
        : undefined;
    },
  };
}

type Device = 'desktop' | 'mobile' | 'tablet';

/** The class of device by its `User-Agent`; undefined without one. */
export function deviceOf(userAgent: string | undefined): Device | undefined {
  if (userAgent === undefined) return undefined;
  if (/iPad|Tablet|Android(?!.*Mobile)/i.test(userAgent)) return 'tablet';
  return /Mobi|iPhone|Android/i.test(userAgent) ? 'mobile' : 'desktop';
}
