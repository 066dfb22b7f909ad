import { expect, test } from 'vitest';
import type { RewardState } from '../../../src/outcome.ts';
import {
  advance,
  claimMs,
  isDue,
  isHeldFor,
  type LedgerEntry,
  type RewardEvent,
  transferEntry,
} from '../../../src/reward/reward-machine.ts';

const entry = (state: RewardState, delivered = false): LedgerEntry => ({
  v: 1,
  decisionId: 'dec_1',
  token: 'token',
  placement: 'revive',
  reward: { type: 'coins', amount: 10 },
  state,
  trackedAt: 0,
  delivered,
});
const statusEvent = (state: RewardState): RewardEvent => ({
  type: 'status',
  status: { id: 'dec_1', state },
  at: 7,
});
const states: RewardState[] = ['none', 'pending', 'earned', 'denied', 'expired'];
const watchedEvent: RewardEvent = { type: 'watched' };
const deliveredEvent: RewardEvent = { type: 'delivered' };

/**
 * The expected states. Each row is a previous state. The columns are the `watched` event and each status from the
 * service.
 */
const table: Record<RewardState, RewardState[]> = {
  none: ['pending', 'none', 'pending', 'earned', 'denied', 'expired'],
  pending: ['pending', 'pending', 'pending', 'earned', 'denied', 'expired'],
  earned: ['earned', 'earned', 'earned', 'earned', 'earned', 'earned'],
  denied: ['denied', 'denied', 'denied', 'denied', 'denied', 'denied'],
  expired: ['expired', 'expired', 'expired', 'expired', 'expired', 'expired'],
};

test.each(states)('every event in state %s leads to the state in the table', (state) => {
  const events = [watchedEvent, ...states.map(statusEvent)];
  expect(events.map((event) => advance(entry(state), event).state)).toEqual(table[state]);
});

test.each(states)('only an earned reward can be delivered, not a reward in state %s', (state) => {
  const after = advance(entry(state), deliveredEvent);
  expect(after.delivered).toBe(state === 'earned');
  expect(after.state).toBe(state);
});

test('an earned reward is due until it is delivered', () => {
  const earned = advance(entry('pending'), statusEvent('earned'));
  expect(earned.earnedAt).toBe(7);
  expect(isDue(earned)).toBe(true);
  const done = advance(earned, deliveredEvent);
  expect(isDue(done)).toBe(false);
  expect(advance(done, statusEvent('earned'))).toEqual(done);
});

test('a claim is exclusive until it is released or expires', () => {
  const earned = advance(entry('pending'), statusEvent('earned'));
  const at = 1e12;
  const claimed = advance(earned, { type: 'claimed', at });
  const claimAgain = (after: number) => advance(claimed, { type: 'claimed', at: at + after });
  expect(claimed.claimedAt).toBe(at);
  for (const after of [0, 1, claimMs - 1, 1 - claimMs]) expect(claimAgain(after)).toBe(claimed);
  // A clock that is set back by a day must not delay the reward by a day.
  for (const after of [claimMs, -86_400_000]) expect(claimAgain(after).claimedAt).toBe(at + after);
  // Another tab's claim, also if its clock was ahead.
  for (const other of [at - 1, at + 1])
    expect(advance(claimed, { type: 'released', at: other })).toBe(claimed);
  const released = advance(claimed, { type: 'released', at });
  expect(advance(released, { type: 'claimed', at: at + 1 }).claimedAt).toBe(at + 1);
});

test.each(states)('only a reward that is due can be claimed, not a reward in state %s', (state) => {
  for (const done of [false, true]) {
    const claimed = advance(entry(state, done), { type: 'claimed', at: 1e12 });
    expect(claimed.claimedAt === 1e12).toBe(state === 'earned' && !done);
  }
});

test.each<[heldFor: string | undefined, player: string | undefined, isHeld: boolean]>([
  ['ann', 'ann', true],
  ['ann', 'bob', false],
  ['ann', '', false],
  ['ann', undefined, false],
  // A player whom the game doesn't name is nobody else.
  ['', '', true],
  ['', 'ann', false],
  ['', undefined, false],
  [undefined, 'ann', true],
  [undefined, '', true],
  [undefined, undefined, false],
])('whether a reward held for %j is for player %j: %j', (heldFor, player, isHeld) => {
  expect(isHeldFor({ ...entry('earned'), earnedBy: 'eve', heldFor }, player)).toBe(isHeld);
});

test.each(states)(
  'a reward in state %s can be transferred to another player unless it is denied, expired or delivered',
  (state) => {
    const guestEntry = { ...entry(state), earnedBy: 'guest', heldFor: 'guest' };
    expect(transferEntry(guestEntry, 'bob', 'ann')).toBe(guestEntry);
    const isTransferable = state !== 'denied' && state !== 'expired';
    const after = transferEntry(guestEntry, 'guest', 'ann');
    expect(after).toEqual({ ...guestEntry, heldFor: isTransferable ? 'ann' : 'guest' });
    const delivered = { ...guestEntry, delivered: true };
    if (state === 'earned') expect(transferEntry(delivered, 'guest', 'ann')).toBe(delivered);
  },
);
