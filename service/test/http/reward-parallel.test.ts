import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startGame, type Game } from './reward-game.ts';

describe.each([
  ['the embedded database', false],
  ...(hasPostgres ? ([['PostgreSQL', true]] as const) : []),
] as const)('on %s', (_name, usesPostgres) => {
  let game: Game;
  beforeAll(async () => {
    game = await startGame(usesPostgres ? await createPostgresDatabase() : undefined);
  });
  afterAll(() => game.stop());

  test('a hundred concurrent completions earn one reward', async () => {
    const decision = await game.decide('hundred');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    const responses = await Promise.all(
      Array.from({ length: 100 }, () =>
        game.report(game.createImpression(decision), game.createCompletion(decision)),
      ),
    );
    const receipts = responses.map(({ decisions }) => decisions[0]?.receipt);
    expect(responses.map(({ decisions }) => decisions[0]?.state)).toEqual(
      Array(100).fill('earned'),
    );
    expect(new Set(receipts).size).toBe(1);
    expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(1);
    expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(1);
    expect(await game.readReportCount('rewards_earned')).toBe(1);
    expect(await game.readReportCount('impressions')).toBe(1);
  });

  test('concurrent duplicates of an event are counted once', async () => {
    const ads = await Promise.all(['one', 'two', 'three'].map((name) => game.decide(name)));
    const events = ads.flatMap((ad) => [
      game.createEvent(ad, 'midpoint'),
      game.createEvent(ad, 'close'),
    ]);
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        game.report(...(index % 2 === 0 ? events : events.toReversed())),
      ),
    );
    const acceptedIds = responses
      .flatMap(({ results }) => results)
      .filter(({ status }) => status === 'accepted')
      .map(({ id }) => id);
    expect(acceptedIds.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect([await game.readReportCount('midpoints'), await game.readReportCount('closes')]).toEqual(
      [3, 3],
    );
  });
});
