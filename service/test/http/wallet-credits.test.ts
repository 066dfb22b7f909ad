import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdEvent, Placement } from '@trueward/protocol/wire';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import type { FilledDecision, Game } from './reward-game.ts';
import { updatePlacement } from './reward-operator.ts';
import { coins, createWalletPlayers, startWalletGame } from './wallet-game.ts';

/** Reports what happens after an ad has started, in one of the ways in which it may arrive. */
type Path = (
  game: Game,
  decision: FilledDecision,
  watched: { impression: AdEvent; completion: AdEvent },
) => Promise<unknown>;

const hourMs = 3_600_000;
const paths: Record<string, Path> = {
  'everything at once': (game, _, { impression, completion }) =>
    game.report(impression, completion),
  'several times at once': (game, _, { impression, completion }) =>
    Promise.all(Array.from({ length: 5 }, () => game.report(impression, completion))),
  'again, after it was earned': async (game, decision, { impression, completion }) => {
    await game.report(impression, completion);
    game.advance(hourMs);
    await game.report(impression, completion);
    await game.report(game.createCompletion(decision));
  },
  'the completion before the impression': async (game, _, { impression, completion }) => {
    expect((await game.report(completion)).decisions[0]?.state).toBe('pending');
    game.advance(60_000);
    await game.report(impression);
  },
  'an hour late, from a device that was offline': async (game, _, { impression, completion }) => {
    game.advance(hourMs);
    await game.report(impression, completion);
  },
};

describe.each([
  ['the embedded database', () => Promise.resolve(undefined)],
  ['PostgreSQL', createPostgresDatabase],
])('on %s', (name, createDatabase) => {
  const isSkipped = name === 'PostgreSQL' && !hasPostgres;
  let game: Game;
  beforeAll(async () => {
    if (!isSkipped) game = await startWalletGame(await createDatabase());
  });
  afterAll(() => game?.stop());
  const { makeGuest, manage, readWallet } = createWalletPlayers(() => game);

  test.skipIf(isSkipped).each(Object.entries(paths))(
    'a reward is credited once, and its webhook event is stored once: %s',
    async (_how, arrive) => {
      const { player_ref: playerRef, player_token: token } = await makeGuest();
      const { body: decision } = await game.requestDecision({ user_token: token });
      await game.report(game.createEvent(decision, 'start'));
      game.advance(5_000);
      const watched = {
        impression: game.createImpression(decision),
        completion: game.createCompletion(decision),
      };
      await arrive(game, decision, watched);
      expect((await game.readRewardStatus(decision.id)).state).toBe('earned');
      expect(await readWallet(token)).toMatchObject({ balances: { coins: 25 }, version: 1 });
      const entries = await manage<{ data: object[] }>('GET', `/v1/wallets/${playerRef}/entries`);
      expect(entries.body.data).toMatchObject([{ id: decision.id, kind: 'reward', delta: 25 }]);
      expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(1);
    },
  );

  test.skipIf(isSkipped)('a timed reward extends to a week at most, by default', async () => {
    const days: Placement['reward'] = { ...coins, type: 'no_ads', duration_s: 4 * 86_400 };
    await updatePlacement(game, 'revive', { reward: days });
    const { player_token: token } = await makeGuest();
    for (const expectedDays of [4, 7, 7]) {
      const { body: decision } = await game.requestDecision({ user_token: token });
      await game.watch(decision);
      const { entitlements, now } = await readWallet(token);
      const leftMs = Date.parse(entitlements[0]?.active_until ?? '') - Date.parse(now);
      expect(Math.ceil(leftMs / 86_400_000)).toBe(expectedDays);
    }
    await updatePlacement(game, 'revive', { reward: coins });
  });
});
