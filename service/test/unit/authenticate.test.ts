import type { FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createAdmitKey } from '../../src/http/authentication/authenticate.ts';
import { createLimitBuckets, createRateLimiter } from '../../src/http/limits/rate-limits.ts';
import { makeSecretKeyText } from '../../src/access/key-store.ts';

test('requests with a leaked key are rate limited by IP during a database outage', async () => {
  const rate = { perS: 1, burst: 2 };
  const limits = {
    key: { live: rate, sandbox: rate },
    keyCeiling: rate,
    address: rate,
    user: { live: rate, sandbox: rate },
    guests: rate,
    waits: { key: 1, address: 1 },
  };
  const nowMs = () => 0;
  const admitKey = createAdmitKey({
    clock: { nowMs, monotonicMs: nowMs },
    isComplete: () => true,
    findKey: () => ({
      accountId: 'acc_1',
      environment: 'live',
      kind: 'sk',
      keyId: 'key_1',
      allowedOrigins: [],
    }),
    limiter: createRateLimiter(limits, createLimitBuckets(limits, nowMs)),
    onUse: () => undefined,
    onLeak: () => Promise.reject(new Error('The database is unavailable.')),
  });
  const authorization = `Bearer ${makeSecretKeyText('live')}`;
  const request = {
    id: '1',
    ip: '198.51.100.7',
    headers: { authorization, origin: 'https://game.example' },
    log: pino({ level: 'silent' }),
  } as unknown as FastifyRequest;
  const reply = {
    getHeader: () => undefined,
    header: () => reply,
    headers: () => reply,
  } as unknown as FastifyReply;
  const admit = async () => admitKey(request, reply, ['pk', 'sk']);
  for (let times = 0; times < rate.burst; times += 1)
    await expect(admit()).rejects.toThrow('The database is unavailable.');
  await expect(admit()).rejects.toMatchObject({ code: 'rate_limited' });
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
