import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  findDecisionId,
  hasTooManyParameters,
  isAuthentic,
  type NetworkCall,
} from '../../src/reward/network-call.ts';

const secret = 'the secret of the source’s callback';
const sign = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const call = (query: string, headers: Record<string, string> = {}, body = ''): NetworkCall => ({
  query,
  body: Buffer.from(body),
  contentType: 'application/x-www-form-urlencoded',
  header: (name) => headers[name.toLowerCase()],
});
const byHeader = { decision_parameter: 'decision', signature_header: 'Signature' };
const byKey = { decision_parameter: 'decision' };

/** The parameters as a network has sorted and signed them, and in other orders. */
const sorted = ['a=1', 'b=a%20b', 'b=a', 'c=', 'd', 'decision=dec_1', 'e=%C3%A9', 'f=x+y'];
const orders = [
  sorted,
  sorted.toReversed(),
  [4, 7, 0, 5, 1, 2, 6, 3].map((index) => sorted[index] ?? ''),
].map((names) => names.filter((name) => name !== 'b=a').concat('b=a'));

test.each(orders)(
  'a query string is signed in one order, however it is sent (%s …)',
  (...names) => {
    const signature = sign(sorted.join('&'));
    const query = names.join('&');
    expect(isAuthentic(call(query, { signature }), byHeader, secret)).toBe(true);
    expect(isAuthentic(call(query, { signature: `sha256=${signature}` }), byHeader, secret)).toBe(
      true,
    );
    expect(isAuthentic(call(`${query}&z=1`, { signature }), byHeader, secret)).toBe(false);
  },
);

test('a network may have encoded the query string differently', () => {
  const signature = sign('b=a+b&decision=dec_1');
  expect(isAuthentic(call('decision=dec_1&b=a%20b', { signature }), byHeader, secret)).toBe(true);
});

test('a body is signed as it is, and then the query string proves nothing', () => {
  const body = 'decision=dec_1';
  const signed = call('decision=dec_2', { signature: sign(body) }, body);
  expect(isAuthentic(signed, byHeader, secret)).toBe(true);
  expect(findDecisionId(signed, byHeader)).toEqual({ id: 'dec_1' });
  const forged = call('decision=dec_2', { signature: sign('decision=dec_2') }, body);
  expect(isAuthentic(forged, byHeader, secret)).toBe(false);
});

test.each<[string, NetworkCall, boolean]>([
  ['in the query string', call(`key=${encodeURIComponent(secret)}`), true],
  ['with another letter', call(`key=${encodeURIComponent(secret)}x`), false],
  ['that is missing', call(''), false],
  [
    'as a bearer token',
    call('', { authorization: `bearer  ${secret.replaceAll(' ', '')}` }),
    false,
  ],
])('a secret %s', (_name, given, isProof) => {
  expect(isAuthentic(given, byKey, secret)).toBe(isProof);
});

test('a call has at most a hundred parameters', () => {
  expect(hasTooManyParameters({ query: 'a&'.repeat(99) })).toBe(false);
  expect(hasTooManyParameters({ query: 'a&'.repeat(100) })).toBe(true);
});
