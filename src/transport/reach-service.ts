import type { Clock } from '../platform/clock.ts';
import { listen } from '../platform/native.ts';
import { hasShape, parseJson, withNonce } from './service-client.ts';

/** Why a request did not reach the service, although something responds or the network works. */
export type Obstacle = 'blocked' | 'unexpected_response';

interface ReachDeps {
  fetch: typeof globalThis.fetch;
  clock: Clock;
}

/**
 * Finds out why a request for the service failed. Resolves to `blocked` if the service responds to requests that filter
 * lists don't match, or if the browser lets no request to its host through. Resolves to `unexpected_response` if
 * something else responds at its URL, such as another web server or a captive portal. Rejects if nothing responds.
 */
export async function findObstacle(
  { clock, fetch }: ReachDeps,
  serviceUrl: string,
  signal: AbortSignal,
): Promise<Obstacle> {
  const url = `${serviceUrl}/healthz`;
  const request = { signal, credentials: 'omit', cache: 'no-store' } as const;
  const send = async (mode: RequestMode) => fetch(withNonce(url), { ...request, mode });
  try {
    const response = await send('cors');
    return hasShape(parseJson(await response.text()), { status: '' })
      ? 'blocked'
      : 'unexpected_response';
  } catch {
    // Another server's response can't be read, but it proves that the host is reachable.
    return send('no-cors').then(
      (): Obstacle => 'unexpected_response',
      async (error: unknown): Promise<Obstacle> => {
        if (await isHostFiltered({ clock, fetch }, url, signal)) return 'blocked';
        throw error;
      },
    );
  }
}

/**
 * If a request fails within this time, in milliseconds, it has not left the device. A server that refuses a connection
 * takes longer, unless it is on the same network.
 */
const maxFilterMs = 15;
/** Hosts on the same device or network. Filter lists don’t contain them, and they can refuse a connection at once. */
const nearHost = /^(?:[\d.]+|\[.*|localhost|.*\.local(?:host)?)$/;

/** Whether the browser lets no request to this URL’s host through, although there is a network. */
export async function isHostFiltered(
  { clock, fetch }: ReachDeps,
  url: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { hostname, protocol } = new URL(url);
  // Browsers themselves block an unencrypted host on an encrypted page.
  if (nearHost.test(hostname) || (protocol === 'http:' && location.protocol === 'https:'))
    return false;
  let violatesPolicy = false;
  const stop = listen(document, 'securitypolicyviolation', () => (violatesPolicy = true));
  const request = { method: 'HEAD', mode: 'no-cors', cache: 'no-store', signal } as const;
  try {
    let quickFailures = 0;
    for (let sent = 0; sent < 3; sent += 1) {
      const startedAt = clock.monotonic();
      const answered = await fetch(withNonce(url), request).catch(() => undefined);
      if (answered) return false;
      if (clock.monotonic() - startedAt < maxFilterMs) quickFailures += 1;
    }
    // The page’s own server shows whether there is a network. A busy page may notice one failure late.
    if (quickFailures > 1) await fetch(withNonce(location.href.replace(/#.*/s, '')), request);
    return quickFailures > 1 && !violatesPolicy;
  } catch {
    return false;
  } finally {
    stop();
  }
}
