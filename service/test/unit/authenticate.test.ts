import type { FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createAdmitKey } from '../../src/http/authentication/authenticate.ts';
import { createLimitBuckets, createRateLimiter } from '../../src/http/limits/rate-limits.ts';
import {
  makeGameId,
  makePublishableKeyText,
  makeSecretKeyText,
} from '../../src/access/key-store.ts';
import type { KeyKind } from '../../src/access/principal.ts';
import { limitAll } from './fixtures.ts';

const rate = { perS: 1, burst: 2 };

/** Returns a function that sends a request with a key. Two requests are admitted. */
function createAdmit(
  kind: KeyKind,
  { allowedOrigins = [] as string[], accepted = ['pk', 'sk'] as readonly KeyKind[] } = {},
) {
  const limits = limitAll(rate);
  const nowMs = () => 0;
  const admitKey = createAdmitKey({
    clock: { nowMs, monotonicMs: nowMs },
    isComplete: () => true,
    findKey: () => ({
      accountId: 'acc_1',
      environment: 'live',
      kind,
      keyId: 'key_1',
      allowedOrigins,
    }),
    limiter: createRateLimiter(limits, createLimitBuckets(limits, nowMs)),
    onUse: () => undefined,
    onLeak: () => Promise.reject(new Error('The database is unavailable.')),
  });
  const text =
    kind === 'sk' ? makeSecretKeyText('live') : makePublishableKeyText('live', makeGameId());
  const reply = {
    getHeader: () => undefined,
    header: () => reply,
    headers: () => reply,
  } as unknown as FastifyReply;
  return async (origin?: string) => {
    const request = {
      id: '1',
      ip: '198.51.100.7',
      headers: { authorization: `Bearer ${text}`, ...(origin === undefined ? {} : { origin }) },
      log: pino({ level: 'silent' }),
    } as unknown as FastifyRequest;
    return (await admitKey(request, reply, accepted)).keyId;
  };
}

test('requests with a leaked key are rate limited by IP during a database outage', async () => {
  const admit = createAdmit('sk');
  for (let times = 0; times < rate.burst; times += 1)
    await expect(admit('https://game.example')).rejects.toThrow('The database is unavailable.');
  await expect(admit('https://game.example')).rejects.toMatchObject({ code: 'rate_limited' });
});

test.each([
  ['sk', 'pk'],
  ['pk', 'sk'],
] as const)(
  'requests with a key (%s) on a route for another kind are limited',
  async (kind, other) => {
    const admit = createAdmit(kind, { accepted: [other] });
    for (let times = 0; times < rate.burst; times += 1)
      await expect(admit()).rejects.toMatchObject({ code: 'key_not_permitted' });
    await expect(admit()).rejects.toMatchObject({ code: 'rate_limited' });
  },
);

test.each([
  ['https://game.example', true],
  ['https://game.example.evil.example', false],
  ['https://game.example:8443', false],
  ['https://play.game.example', false],
  ['https://evil-game.example', false],
  ['http://game.example', false],
  ['https://game.exampl', false],
  ['null', false],
  ['*', false],
  ['', false],
])('a key for https://game.example works on %j: %j', async (origin, isAllowed) => {
  const admitting = createAdmit('pk', { allowedOrigins: ['https://game.example'] })(origin);
  if (isAllowed) expect(await admitting).toBe('key_1');
  else await expect(admitting).rejects.toMatchObject({ code: 'origin_not_allowed' });
});

test.each([
  [true, 'key_unknown'],
  [false, 'unavailable'],
])('if all keys were read: %s, an unknown key is answered with %s', (isComplete, code) => {
  const noop = () => undefined;
  const admitKey = createAdmitKey({
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    isComplete: () => isComplete,
    findKey: noop,
    limiter: createRateLimiter(undefined, undefined),
    onUse: noop,
    onLeak: () => Promise.resolve(true),
  });
  const headers = { authorization: `Bearer ${makeSecretKeyText('live')}` };
  const request = { headers, ip: '192.0.2.1' } as unknown as FastifyRequest;
  expect(() => admitKey(request, {} as FastifyReply, ['sk'])).toThrow(
    expect.objectContaining({ code }) as Error,
  );
});
