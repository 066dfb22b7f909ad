import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

/** The country of a player, as sent by the load balancer or CDN in front of the service. */
export interface Country {
  /** Removes the header from requests of untrusted peers, which could forge it. */
  screen(request: Pick<IncomingMessage, 'headers' | 'socket'>): void;
  /** ISO 3166-1 alpha-2; undefined when unknown. */
  of(headers: IncomingHttpHeaders): string | undefined;
}

/** @param header The lowercase name, such as `cf-ipcountry`; undefined: countries are unknown. */
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
      // CDNs send XX, T1 and the like when they don't know.
      return typeof value === 'string' && /^[a-z]{2}$/i.test(value) && !/^xx$/i.test(value)
        ? value.toUpperCase()
        : undefined;
    },
  };
}

type Device = 'desktop' | 'mobile' | 'tablet';

/** The class of device according to its `User-Agent`; undefined without one. */
export function deviceOf(userAgent: string | undefined): Device | undefined {
  if (userAgent === undefined) return undefined;
  if (/iPad|Tablet|Android(?!.*Mobile)/i.test(userAgent)) return 'tablet';
  return /Mobi|iPhone|Android/i.test(userAgent) ? 'mobile' : 'desktop';
}
