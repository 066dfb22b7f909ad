import { expect, test } from 'vitest';
import {
  createDecisionTokens,
  UnsupportedTokenVersionError,
  type TokenClaims,
} from '../../src/decision/token.ts';
import { createMac } from '../../src/access/secret-box.ts';

const tokens = createDecisionTokens('key');
const claims: TokenClaims = {
  decisionId: 'dec_1',
  accountId: 'acc_1',
  environment: 'sandbox',
  placement: 'revive',
  creativeId: 'crv_1',
  userRef: 'Zoë’s "user"',
  issuedAtMs: 1,
  expiresAtMs: 2,
};

test.each(['Zoë’s "user"', 'a~b.c', '~', '.', ' %7E', 'u=1', undefined])(
  'a token for %s is URL-safe and yields its claims when verified, even with unknown claims',
  (userRef) => {
    const { userRef: _, ...rest } = claims;
    const signedClaims = userRef === undefined ? rest : { ...rest, userRef };
    const token = tokens.sign(signedClaims);
    expect(tokens.verify(token)).toEqual(signedClaims);
    expect(token).toMatch(/^1~[\w.~%!*'()=-]+$/);
    const body = `${token.slice(0, token.lastIndexOf('.'))}~later=1`;
    expect(tokens.verify(`${body}.${createMac('key')(body)}`)).toEqual(signedClaims);
  },
);

test('verifying a token in another version throws UnsupportedTokenVersionError', () => {
  const body = '2~dec_1~whatever';
  expect(() => tokens.verify(`${body}.${createMac('key')(body)}`)).toThrow(
    UnsupportedTokenVersionError,
  );
  expect(tokens.verify(`${body}.${createMac('other')(body)}`)).toBeUndefined();
});

test('a token is rejected if any character is changed, added or missing', () => {
  const token = tokens.sign(claims);
  for (let position = 0; position < token.length; position += 1) {
    const other = token.charAt(position) === 'A' ? 'B' : 'A';
    expect(
      tokens.verify(token.slice(0, position) + other + token.slice(position + 1)),
    ).toBeUndefined();
    expect(tokens.verify(token.slice(0, position) + token.slice(position + 1))).toBeUndefined();
  }
  expect(tokens.verify(`${token}A`)).toBeUndefined();
});

test('a token from another service and malformed text are rejected', () => {
  expect(createDecisionTokens('other').verify(tokens.sign(claims))).toBeUndefined();
  for (const text of ['', '.', 'a.b', 'a', `.${'A'.repeat(43)}`])
    expect(tokens.verify(text)).toBeUndefined();
});
