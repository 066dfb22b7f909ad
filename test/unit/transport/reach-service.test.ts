import { beforeEach, expect, test, vi } from 'vitest';
import { findObstacle } from '../../../src/transport/reach-service.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const blocked = 'blocked';
const page = 'https://games.test/play';
const service = 'https://play.test';

/** How the requests of one page end. */
interface Network {
  serviceUrl?: string;
  pageUrl?: string;
  /** How long a request to the service takes to fail, in milliseconds; one after the other, then the last. */
  failAfterMs?: number[];
  /** Whether the page's own server responds. */
  isOnline?: boolean;
  violatesPolicy?: boolean;
  /** What responds at the service's URL to requests that show the response, and to those that don't. */
  readable?: string;
  opaque?: boolean;
}

let listeners: Set<() => void>;

beforeEach(() => {
  listeners = new Set();
  const document = Object.assign(new EventTarget(), {});
  vi.stubGlobal('document', document);
  listeners.add(() => document.dispatchEvent(new Event('securitypolicyviolation')));
});

function ask({
  failAfterMs = [1],
  isOnline = true,
  opaque = false,
  pageUrl = page,
  readable,
  serviceUrl = service,
  violatesPolicy = false,
}: Network) {
  vi.stubGlobal('location', new URL(pageUrl));
  const clock = createManualClock();
  const urls: string[] = [];
  const delays = [...failAfterMs];
  const fetch = async (input: unknown, { mode }: RequestInit = {}): Promise<Response> => {
    urls.push(String(input));
    if (String(input).startsWith(pageUrl)) {
      if (isOnline) return new Response();
      throw new TypeError('offline');
    }
    if (mode === 'cors' && readable !== undefined) return new Response(readable);
    if (mode === 'no-cors' && opaque) return new Response();
    clock.freeze(delays.length > 1 ? (delays.shift() ?? 0) : (delays[0] ?? 0));
    if (violatesPolicy) for (const notify of listeners) notify();
    throw new TypeError('failed');
  };
  const { signal } = new AbortController();
  const found = findObstacle(
    { clock, fetch: fetch as typeof globalThis.fetch },
    serviceUrl,
    signal,
  );
  return found.catch(() => 'network').then((cause) => ({ cause, urls }));
}

test.each<[string, Network, string]>([
  ['a filter for some requests', { readable: '{"status":"ok"}' }, blocked],
  ['another server', { readable: '<h1>It works</h1>' }, 'unexpected_response'],
  ['another server without CORS', { opaque: true }, 'unexpected_response'],
  ['a filter for the whole host', {}, blocked],
  ['a filter that is slow once', { failAfterMs: [1, 1, 90, 1, 1] }, blocked],
  ['a server that refuses the connection', { failAfterMs: [30] }, 'network'],
  ['a name that does not exist', { failAfterMs: [1, 1, 1, 40, 25] }, 'network'],
  ['no network', { isOnline: false }, 'network'],
  ['a content security policy', { violatesPolicy: true }, 'network'],
  ['an unencrypted service on an encrypted page', { serviceUrl: 'http://play.test' }, 'network'],
  [
    'nothing on this device',
    { serviceUrl: 'http://localhost:8787', pageUrl: 'http://localhost:5173/' },
    'network',
  ],
  ['nothing at an address', { serviceUrl: 'https://192.168.1.7:8787' }, 'network'],
  ['nothing at an IPv6 address', { serviceUrl: 'https://[::1]:8787' }, 'network'],
  ['nothing in the local network', { serviceUrl: 'https://play.local' }, 'network'],
])('%s', async (_, network, expected) => {
  expect(await ask(network)).toMatchObject({ cause: expected });
});

test('asks the page’s own server only if everything else has failed at once', async () => {
  const { urls } = await ask({ failAfterMs: [30] });
  expect(urls.filter((url) => url.startsWith(page))).toEqual([]);
  expect(new Set(urls).size).toBe(urls.length);
});
