import type { AdEvent, MistakeList } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';

// What the service says about an integration in which somebody makes each typical mistake, from the requests to the
// finding. `keys.test.ts` and `reward-attacks.test.ts` show the findings about keys, devices and shared references.

let game: Game;
let playerCount = 0;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

const readNames = async (): Promise<string[]> => {
  const { body } = await game.client.call<MistakeList>('GET', '/v1/mistakes', game.client.secret);
  for (const { evidence, remedy, guide } of body.data) {
    expect(evidence).toMatch(/\d/);
    expect(remedy).toMatch(/\.$/);
    expect(guide).toMatch(/^docs\//);
  }
  return body.data.map(({ name }) => name);
};
const decide = (): Promise<FilledDecision> => game.decide(`player-${(playerCount += 1)}`);

/** Each of the players requests an ad, and reports these events after as many milliseconds. */
async function watch(
  players: number,
  watchedMs: number,
  createEvents: (ad: FilledDecision) => AdEvent[],
): Promise<void> {
  const ads = await Promise.all(Array.from({ length: players }, decide));
  await Promise.all(ads.map((ad) => game.report(game.createEvent(ad, 'start'))));
  game.advance(watchedMs);
  await Promise.all(ads.map((ad) => game.report(...createEvents(ad))));
}
const seen = (ad: FilledDecision): AdEvent => game.createImpression(ad);
const completed = (ad: FilledDecision): AdEvent => game.createCompletion(ad);

/** Ways to make each mistake, in this order. None is noticed before it is made. */
const mistakes: [name: string, make: () => Promise<unknown>][] = [
  ['rewards_without_receiver', () => watch(1, 5_000, (ad) => [seen(ad), completed(ad)])],
  ['impossible_timing', () => watch(20, 0, (ad) => [seen(ad), completed(ad)])],
  ['ads_not_visible', () => watch(20, 5_000, (ad) => [completed(ad)])],
  [
    'rewards_denied',
    () =>
      watch(20, 5_000, (ad) => [seen(ad), game.createEvent(ad, 'complete', { watched_ms: 900 })]),
  ],
  ['new_user_ref_each_time', () => Promise.all(Array.from({ length: 200 - playerCount }, decide))],
  [
    'receiver_is_slow',
    async () => {
      const { secret } = game.client;
      const url = 'https://receiver.invalid/';
      const body = { url, events: ['decision.rewarded'] };
      expect((await game.client.call('POST', '/v1/webhooks', secret, body)).status).toBe(201);
      await watch(1, 5_000, (ad) => [seen(ad), completed(ad)]);
      game.advance(120_001);
    },
  ],
];

test('each mistake leads to its finding, and nothing else does', async () => {
  expect(await readNames()).toEqual([]);
  for (const [name, make] of mistakes) {
    expect(await readNames()).not.toContain(name);
    await make();
    expect(await readNames()).toContain(name);
  }
  // With a receiver of rewards, one of them is corrected.
  expect(await readNames()).not.toContain('rewards_without_receiver');
});
