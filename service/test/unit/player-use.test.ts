import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlayerUse, type PlayerSighting } from '../../src/access/player-use.ts';

const dayMs = 86_400_000;
const repeat = (count: number, make: (index: number) => PlayerSighting): PlayerSighting[] =>
  Array.from({ length: count }, (_, index) => make(index));
const find = (sightings: readonly PlayerSighting[], nowMs = 1_000) => {
  const use = createPlayerUse();
  for (const sighting of sightings) use.note(sighting, nowMs);
  return use.findings();
};
const guests = (count: number) =>
  repeat(count, (index) => ({ userRef: 'guest', device: `phone ${index}` }));

test.each<[string, PlayerSighting[], object | undefined]>([
  ['nothing', [], undefined],
  ['one reference on 10 devices', guests(10), { devicesPerPlayer: { atMs: 1_000, count: 10 } }],
  ['one reference on 9 devices', guests(9), undefined],
  ['one reference without a device', repeat(50, () => ({ userRef: 'guest' })), undefined],
  [
    'one device that names its player often',
    repeat(50, () => ({ userRef: 'ann', device: 'phone', playersOnDevice: 1 })),
    undefined,
  ],
  [
    'devices that have named many players, a fifth of all',
    repeat(50, (index) => ({ playersOnDevice: index % 5 === 0 ? 3 : 2 })),
    { manyPlayersPerDevice: { atMs: 1_000, count: 10, of: 50 } },
  ],
  [
    'devices that have named many players, less than a fifth',
    repeat(55, (index) => ({ playersOnDevice: index % 5 === 0 && index < 50 ? 9 : 1 })),
    undefined,
  ],
  [
    'rewards that wait on every device',
    repeat(10, () => ({ waitingRewards: 4 })),
    { waitingRewards: { atMs: 1_000, count: 10, of: 10 } },
  ],
  ['rewards that wait on few devices', repeat(9, () => ({ waitingRewards: 4 })), undefined],
])('%s', (_, sightings, findings) => {
  expect(find(sightings)).toEqual(findings);
});

test('a reference that a quarter of the players share is found among any others, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 80 }), (order) => {
      const sightings = order.map((value, index) => ({
        userRef: `player ${index} ${value}`,
        device: `phone ${index}`,
      }));
      const shared = order.map((value, index) => ({
        at: value % order.length,
        sighting: { userRef: 'guest', device: `guest's phone ${index}` },
      }));
      for (const { at, sighting } of shared) sightings.splice(at, 0, sighting);
      expect(find(sightings)?.devicesPerPlayer?.count).toBeGreaterThanOrEqual(10);
    }),
    { numRuns: 100 },
  );
});

test('a player with many devices among a hundred players like it doesn’t stand out', () => {
  const sightings = repeat(5_000, (index) => ({
    userRef: `player ${index % 100}`,
    device: `phone ${index}`,
  }));
  expect(find(sightings)).toBeUndefined();
});

test('what was seen more than a day ago is forgotten', () => {
  const use = createPlayerUse();
  for (const sighting of guests(9)) use.note(sighting, 0);
  use.note({ userRef: 'guest', device: 'another' }, dayMs + 1);
  expect(use.findings()).toBeUndefined();
});

test('what stood out tells when it did last, so that a corrected mistake is forgotten after a day', () => {
  const use = createPlayerUse();
  for (const sighting of guests(10))
    use.note({ ...sighting, playersOnDevice: 3, waitingRewards: 1 }, 1_000);
  use.note({ userRef: 'ann', device: 'phone', playersOnDevice: 1, waitingRewards: 0 }, 5_000);
  const share = { atMs: 1_000, count: 10, of: 11 };
  expect(use.findings()).toEqual({
    devicesPerPlayer: { atMs: 1_000, count: 10 },
    manyPlayersPerDevice: share,
    waitingRewards: share,
  });
});
