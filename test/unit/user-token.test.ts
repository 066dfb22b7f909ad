import { expect, test } from 'vitest';
import type { UserToken } from '../../src/options.ts';
import { getUserToken } from '../../src/user-token.ts';
import { createManualClock } from '../support/manual-clock.ts';

const failed = (detail: string) => ({ outcome: 'error', reason: 'user_token_failed', detail });
const mustBeText = 'the `userToken` function must return a string; got';

test.each<[description: string, source: unknown, expected: object]>([
  ['there is none', undefined, { userToken: undefined }],
  ['it is a text', 'token', { userToken: 'token' }],
  ['a function returns it', () => 'token', { userToken: 'token' }],
  ['a promise resolves to it', async () => 'token', { userToken: 'token' }],
  ['a function knows no player', () => undefined, { userToken: undefined }],
  ['a function returns null', () => null, failed(`${mustBeText} object.`)],
  ['a function returns a number', async () => 7, failed(`${mustBeText} number.`)],
  [
    'a function throws',
    () => {
      throw new Error('signed out');
    },
    failed('the `userToken` function failed: Error: signed out'),
  ],
  [
    'a promise rejects with nothing',
    () => Promise.reject<string>(undefined as never),
    failed('the `userToken` function failed: undefined'),
  ],
  [
    'a promise never settles',
    () => new Promise(() => undefined),
    { outcome: 'timeout', reason: 'load_timeout' },
  ],
])('the user token if %s', async (_description, source, expected) => {
  const clock = createManualClock();
  const { signal } = new AbortController();
  const result = getUserToken(source as UserToken, { clock, timeoutMs: 5_000, signal });
  await clock.advance(5_000);
  expect(await result).toEqual(expected);
  expect(clock.timers()).toBe(0);
});

test('a request that is aborted doesn’t wait for its token', async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const options = { clock, timeoutMs: 5_000, signal: controller.signal };
  const result = getUserToken(() => new Promise(() => undefined), options);
  controller.abort();
  expect(await result).toEqual({ outcome: 'aborted' });
  expect(clock.timers()).toBe(0);
});
