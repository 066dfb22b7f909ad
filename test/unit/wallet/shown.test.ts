import { expect, test } from 'vitest';
import {
  balanceOf,
  endOf,
  isEmpty,
  isShown,
  readAt,
  show,
  startShown,
} from '../../../src/wallet/shown.ts';

const serviceMs = Date.UTC(2026, 5, 1);
const hourMs = 3_600_000;
const minuteMs = 60_000;
const wallet = {
  player_ref: 'ply_1',
  balances: { coins: 25 },
  entitlements: [
    { type: 'double_xp', active_until: new Date(serviceMs + 10 * minuteMs).toISOString() },
  ],
  version: 3,
  now: new Date(serviceMs).toISOString(),
};

test.each([
  ['is right', 0],
  ['is an hour ahead', hourMs],
  ['is a year behind', -365 * 24 * hourMs],
])('a timed reward ends by the service’s clock if the device’s clock %s', (_how, offsetMs) => {
  const deviceMs = serviceMs + offsetMs;
  const shown = show('ply_1', wallet, deviceMs);
  const end = new Date(serviceMs + 10 * minuteMs);
  expect(endOf(shown, 'double_xp', deviceMs)).toEqual(end);
  expect(endOf(shown, 'double_xp', deviceMs + 10 * minuteMs - 1)).toEqual(end);
  expect(endOf(shown, 'double_xp', deviceMs + 10 * minuteMs)).toBeUndefined();
  expect(endOf(shown, 'no_ads', deviceMs)).toBeUndefined();
});

test('what was read is marked with the time at which it was read', () => {
  expect(readAt(startShown('ply_1'))).toBeUndefined();
  const shown = show('ply_1', wallet, serviceMs + hourMs);
  expect(readAt(shown)).toEqual(new Date(serviceMs + hourMs));
  // Stored by an older release.
  const { readAtMs: _readAtMs, ...older } = shown;
  expect([isShown(older), readAt(older)]).toEqual([true, undefined]);
});

test.each([
  [{}, [], true],
  [{ coins: 0 }, [], true],
  [{ coins: 1 }, [], false],
  [{}, wallet.entitlements, false],
])(
  'a wallet with the balances %j and the timed rewards %j is empty: %j',
  (balances, entitlements, expected) => {
    const shown = show('ply_1', { ...wallet, balances, entitlements }, serviceMs);
    expect(isEmpty(shown, serviceMs)).toBe(expected);
    // When the time is over, nothing is left of it.
    expect(isEmpty(shown, serviceMs + hourMs)).toBe(!('coins' in balances) || balances.coins === 0);
  },
);

test.each(['__proto__', 'constructor', 'toString', 'gems'])(
  'the balance of a type that nobody has is 0: %s',
  (type) => expect(balanceOf(show('ply_1', wallet, serviceMs), type)).toBe(0),
);
