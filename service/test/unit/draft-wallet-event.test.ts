import { expect, test } from 'vitest';
import { draftWalletEvent, type PlayerEntry } from '../../src/wallet/draft-events.ts';

const draft = (entry: Partial<PlayerEntry['entry']>, from?: string) =>
  draftWalletEvent({
    viewer: 'viewer',
    playerRef: 'ann',
    entry: { id: 'ent_1', type: 'coins', balance: 7, version: 3, ...entry } as PlayerEntry['entry'],
    ...(from !== undefined && { from }),
  });
const always = { entry_id: 'ent_1', user_ref: 'ann', type: 'coins', balance: 7, version: 3 };

test.each<[string, Partial<PlayerEntry['entry']>, string | undefined, string, object]>([
  [
    'a spend',
    { kind: 'spend', delta: -2, reason: 'hat' },
    undefined,
    'wallet.spent',
    { amount: 2, reason: 'hat' },
  ],
  [
    'a reward',
    { kind: 'reward', delta: 5 },
    undefined,
    'wallet.credited',
    { kind: 'reward', amount: 5 },
  ],
  [
    'an amount taken back',
    { kind: 'grant', delta: -5 },
    undefined,
    'wallet.credited',
    { kind: 'grant', amount: -5 },
  ],
  [
    'something for a time',
    { kind: 'reward', delta: 0, durationS: 60 },
    undefined,
    'wallet.credited',
    { kind: 'reward', duration_s: 60 },
  ],
  [
    'a guest’s balance and time',
    { kind: 'transfer', delta: 4, durationS: 60 },
    'ply_1',
    'wallet.credited',
    { kind: 'transfer', amount: 4, duration_s: 60, from_user_ref: 'ply_1' },
  ],
])('the event of %s says just that', (_name, entry, from, type, data) => {
  expect(draft(entry, from)).toEqual({ type, viewer: 'viewer', data: { ...always, ...data } });
});
