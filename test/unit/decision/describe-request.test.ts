import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { describeRequest, type Profile } from '../../../src/decision/describe-request.ts';

beforeEach(() => void vi.stubGlobal('innerWidth', 800).stubGlobal('innerHeight', 600));
afterEach(() => void vi.unstubAllGlobals());

const tokenOf = (userToken: NonNullable<Profile['user']['userToken']>) =>
  describeRequest('revive', 'en', { user: { userToken }, consent: undefined, simulate: undefined })
    .user_token;

test('a function is asked for the user token at each request', () => {
  let asked = 0;
  const userToken = () => `token-${(asked += 1)}`;
  expect([tokenOf('fixed'), tokenOf(userToken), tokenOf(userToken)]).toEqual([
    'fixed',
    'token-1',
    'token-2',
  ]);
});

test('a request tells the segments of the player', () => {
  const profile = { user: { segments: ['newcomer'] }, consent: undefined, simulate: undefined };
  expect(describeRequest('revive', 'en', profile).segments).toEqual(['newcomer']);
});

test('a function that throws costs the token, not the request, and its error is seen', () => {
  const later: (() => void)[] = [];
  vi.stubGlobal('queueMicrotask', (callback: () => void) => later.push(callback));
  const userToken = (): string => {
    throw new Error('no session');
  };
  expect(tokenOf(userToken)).toBeUndefined();
  expect(later).toHaveLength(1);
  expect(later[0]).toThrow('no session');
});
