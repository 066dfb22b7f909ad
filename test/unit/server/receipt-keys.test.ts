import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCachedKeyFinder, type ReceiptError } from '../../../src/server/receipt-keys.ts';
import { issuedAtS, makeSigner } from './receipt-fixture.ts';

// A game server that verifies many receipts at once, with a service that is not always there.

const signer = await makeSigner('key-1');
const hourMs = 3_600_000;

let games = 0;
function startServer() {
  const service = { isDown: false, keys: [signer.jwk] as object[], requests: 0 };
  const clock = { ms: issuedAtS * 1_000 };
  vi.stubGlobal('fetch', async () => {
    service.requests += 1;
    await Promise.resolve();
    return service.isDown ? new Response('', { status: 500 }) : Response.json(service);
  });
  const find = createCachedKeyFinder(`https://play.example/${(games += 1)}`, () => clock.ms);
  const verify = (kid: string): Promise<string> =>
    find(kid).then(
      (key) => (key ? 'found' : 'unknown'),
      ({ code }: ReceiptError) => code,
    );
  return {
    clock,
    service,
    verify,
    all: (kid: string) => Promise.all([1, 2, 3, 4].map(() => verify(kid))),
  };
}

let server: ReturnType<typeof startServer>;
beforeEach(() => {
  server = startServer();
});
afterEach(() => vi.unstubAllGlobals());

test('receipts that arrive during an outage leave nothing behind', async () => {
  await server.verify('key-1');
  server.clock.ms += hourMs + 1;
  server.service.isDown = true;
  expect(await server.all('key-1')).toEqual(['found', 'found', 'found', 'found']);
  server.service.isDown = false;
  expect(await server.verify('key-1')).toBe('found');
  server.clock.ms += hourMs + 1;
  expect(await server.verify('key-1')).toBe('found');
});

test('without any keys, the first receipt after an outage is verified', async () => {
  server.service.isDown = true;
  expect(new Set(await server.all('key-1'))).toEqual(new Set(['keys_unavailable']));
  server.service.isDown = false;
  expect(await server.verify('key-1')).toBe('found');
});

test.each([
  ['made-up key ids', 31_000, false, 'key-9', 'unknown'],
  ['made-up key ids during an outage', 31_000, true, 'key-9', 'keys_unavailable'],
  ['old keys during an outage', hourMs + 1, true, 'key-1', 'found'],
])('many receipts with %s cause one request', async (_case, afterMs, isDown, kid, result) => {
  await server.verify('key-1');
  server.clock.ms += afterMs;
  server.service.isDown = isDown;
  const results = [...(await server.all(kid)), await server.verify(kid)];
  expect(new Set(results)).toEqual(new Set([result]));
  expect(server.service.requests).toBe(2);
});

test('a new key is found although the clock was set back', async () => {
  await server.verify('key-1');
  server.clock.ms -= 24 * hourMs;
  server.service.keys.push((await makeSigner('key-2')).jwk);
  expect(await server.verify('key-2')).toBe('found');
});

test('a key that could not be used is fetched again', async () => {
  server.service.keys = [{ ...signer.jwk, x: 'AA' }];
  expect(await server.verify('key-1')).toBe('keys_unavailable');
  server.clock.ms += 31_000;
  server.service.keys = [signer.jwk];
  expect(await server.verify('key-1')).toBe('found');
});
