import type { AdEvent } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import type { TokenClaims } from '../../src/decision/token.ts';
import { readEvent } from '../../src/reward/ingest-events.ts';

const issuedAtMs = Date.parse('2026-06-01T12:00:00.000Z');
const scope = { accountId: 'acc_1', environment: 'sandbox' } as const;
const claims: TokenClaims = {
  ...scope,
  decisionId: 'dec_1',
  placement: 'revive',
  creativeId: 'crv_1',
  issuedAtMs,
  expiresAtMs: issuedAtMs + 600_000,
};
const createEvent = (occurredAtMs: number): AdEvent => ({
  id: 'event-1234',
  type: 'start',
  decision_id: 'dec_1',
  token: 't',
  occurred_at: new Date(occurredAtMs).toISOString(),
});
const read = (occurredAtMs: number, sentAtMs: number, afterMs = 10_000) =>
  readEvent(createEvent(occurredAtMs), {
    scope,
    sentAtMs,
    receivedAtMs: issuedAtMs + afterMs,
    claims,
  });

test('an event time is corrected for a device clock that is a day ahead', () => {
  const dayMs = 86_400_000;
  expect(read(issuedAtMs + dayMs + 4_000, issuedAtMs + dayMs + 10_000)).toMatchObject({
    event: { occurredAtMs: issuedAtMs + 4_000, receivedAtMs: issuedAtMs + 10_000, clamped: false },
  });
});

test('an event time before the decision or in the future is clamped and flagged', () => {
  expect(read(issuedAtMs - 60_000, issuedAtMs + 10_000)).toMatchObject({
    event: { occurredAtMs: issuedAtMs, clamped: true },
  });
  expect(read(issuedAtMs + 60_000, issuedAtMs + 10_000)).toMatchObject({
    event: { occurredAtMs: issuedAtMs + 10_000, clamped: true },
  });
});

test.each([
  ['no valid token', { claims: undefined }, 'token_invalid'],
  ['a token for another account', { claims: { ...claims, accountId: 'acc_2' } }, 'token_invalid'],
  [
    'a token for the other environment',
    { claims: { ...claims, environment: 'live' as const } },
    'environment_mismatch',
  ],
  [
    'a token for another decision',
    { claims: { ...claims, decisionId: 'dec_2' } },
    'decision_mismatch',
  ],
])('an event with %s is rejected', (_name, overrides, code) => {
  expect(
    readEvent(createEvent(issuedAtMs), {
      scope,
      sentAtMs: issuedAtMs,
      receivedAtMs: issuedAtMs,
      ...overrides,
    }),
  ).toEqual({ code });
});
