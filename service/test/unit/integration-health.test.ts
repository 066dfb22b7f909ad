import { expect, test } from 'vitest';
import { findMistakes, type IntegrationFacts } from '../../src/history/integration-health.ts';

const healthy: IntegrationFacts = {
  decisions: 400,
  players: 100,
  completed: 100,
  withoutReward: {},
  earned: 100,
  unpaidPlacements: [],
  rewardReceivers: 1,
  misplacedKeys: [],
  devicesPerPlayer: 0,
  late: 0,
};
const without = (reason: string, count: number, completed = 100) => ({
  completed,
  withoutReward: { [reason]: count },
});

test.each<[string, Partial<IntegrationFacts>, Partial<IntegrationFacts>]>([
  ['shared_user_ref', without('overlapping_watch', 10), without('overlapping_watch', 9)],
  ['shared_user_ref', without('overlapping_watch', 2, 20), without('overlapping_watch', 19, 19)],
  ['shared_user_ref', { devicesPerPlayer: 10 }, { devicesPerPlayer: 0 }],
  ['new_user_ref_each_time', { manyPlayersPerDevice: { atMs: 1, count: 10, of: 50 } }, {}],
  [
    'rewards_not_taken',
    { waitingRewards: { atMs: 1, count: 10, of: 50 }, rewardReceivers: 0, earned: 0 },
    { waitingRewards: { atMs: 1, count: 10, of: 50 } },
  ],
  ['callbacks_missing', without('awaiting_callback', 30), without('awaiting_callback', 29)],
  ['rewards_denied', without('late', 20), without('late', 19)],
  ['rewards_denied', without('frequency_capped', 20), without('killed', 100)],
  ['new_user_ref_each_time', { decisions: 200, players: 190 }, { decisions: 200, players: 189 }],
  ['new_user_ref_each_time', { decisions: 200, players: 200 }, { decisions: 199, players: 199 }],
  ['placement_without_reward', { unpaidPlacements: ['lobby'] }, { unpaidPlacements: [] }],
  ['impossible_timing', without('impossible_timing', 5), without('impossible_timing', 4)],
  ['ads_not_visible', without('no_impression', 30), without('no_impression', 29)],
  [
    'rewards_without_receiver',
    { earned: 1, rewardReceivers: 0 },
    { earned: 0, rewardReceivers: 0 },
  ],
  [
    'sandbox_key_on_public_site',
    { misplacedKeys: [{ environment: 'sandbox', key: 'Website', origin: 'https://game.example' }] },
    { misplacedKeys: [] },
  ],
  [
    'live_key_on_development_server',
    { misplacedKeys: [{ environment: 'live', key: 'key_1', origin: 'http://localhost:5173' }] },
    { misplacedKeys: [] },
  ],
  ['receiver_is_slow', { late: 1 }, { late: 0 }],
])('%s is noticed at its limit, and not below it', (name, mistaken, fine) => {
  expect(findMistakes({ ...healthy, ...mistaken }).map((mistake) => mistake.name)).toEqual([name]);
  expect(findMistakes({ ...healthy, ...fine })).toEqual([]);
});

test('the figures are in the evidence', () => {
  const [mistake] = findMistakes({ ...healthy, ...without('overlapping_watch', 29, 30) });
  expect(mistake?.evidence).toContain('29 of 30');
});
