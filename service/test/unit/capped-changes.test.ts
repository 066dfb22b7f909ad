import { expect, test } from 'vitest';
import { applyChange, maxBalance, maxGrantedS } from '../../src/wallet/wallet.ts';

// What is more than a wallet can hold is not credited, and the entry says how much was.

const nowMs = Date.parse('2026-06-01T00:00:00.500Z');
const entry = { id: 'grt_1', kind: 'reward', type: 'boost' } as const;
const held = (balance: number, untilMs: number | null) => [
  { type: 'boost', balance, activeUntilMs: untilMs, version: 1 },
];

test.each([
  ['time without a limit in reach', null, 600, 900, 600],
  ['the last second', nowMs + 300_000, 600, 900, 600],
  ['a second too much', nowMs + 301_000, 600, 900, 599],
  ['a part of a second too much', nowMs + 300_001, 600, 900, 599],
  ['nothing left', nowMs + 900_000, 600, 900, 0],
  ['a limit that was lowered', nowMs + 2_000_000, 600, 900, 0],
  ['time that has ended', nowMs - 5_000_000, 1_000, 900, 900],
  ['the default limit of a week', null, 604_801, undefined, 604_800],
  ['a year and more', nowMs + 1, maxGrantedS, maxGrantedS, maxGrantedS - 1],
  ['a transfer', nowMs + 2_000_000, 40_000_000, Infinity, 40_000_000],
])('%s', (_, untilMs, durationS, maxActiveS, expected) => {
  const change = { ...entry, delta: 0, durationS, maxActiveS };
  const applied = applyChange(held(0, untilMs), change, nowMs);
  expect(applied?.entry.durationS).toBe(expected);
  const from = Math.max(untilMs ?? nowMs, nowMs);
  expect(applied?.holding.activeUntilMs).toBe(from + expected * 1_000);
});

test.each([
  [0, 25, 25],
  [maxBalance - 25, 25, 25],
  [maxBalance - 24, 25, 24],
  [maxBalance, 25, 0],
])('with a balance of %d, %d more are credited as %d', (balance, delta, expected) => {
  const applied = applyChange(held(balance, null), { ...entry, delta }, nowMs);
  expect(applied?.entry).toMatchObject({ delta: expected, balance: balance + expected });
  expect(applied?.holding.balance).toBe(balance + expected);
});
