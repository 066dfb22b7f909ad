import { afterAll, describe, expect, test } from 'vitest';
import { type PrivatePostgres, startPrivatePostgres } from '../private-postgres.ts';
import { startGame } from './reward-game.ts';

const given = process.env['DATABASE_URL'];
const postgres: Pick<PrivatePostgres, 'url' | 'stop'> | undefined =
  given === undefined ? await startPrivatePostgres() : { url: given, stop: async () => undefined };
afterAll(() => postgres?.stop());

describe.each<[string, string | undefined | null]>([
  ['the embedded database', undefined],
  ['PostgreSQL', postgres?.url ?? null],
])('a hundred completions at once on %s', (_name, databaseUrl) => {
  test('make one reward, one webhook event and one in the report', async ({ skip }) => {
    if (databaseUrl === null) return skip('There is no PostgreSQL here, and no DATABASE_URL.');
    const game = await startGame(databaseUrl);
    try {
      const decision = await game.decide('hundred');
      await game.report(game.event(decision, 'start'));
      game.pass(5_000);
      const answers = await Promise.all(
        Array.from({ length: 100 }, () =>
          game.report(game.seen(decision), game.complete(decision)),
        ),
      );
      const receipts = answers.map(({ decisions }) => decisions[0]?.receipt);
      expect(answers.map(({ decisions }) => decisions[0]?.state)).toEqual(
        Array(100).fill('earned'),
      );
      expect(new Set(receipts).size).toBe(1);
      expect(await game.webhookEvents('decision.rewarded', decision.id)).toBe(1);
      expect(await game.webhookEvents('decision.served', decision.id)).toBe(1);
      expect(await game.count('rewards_earned')).toBe(1);
      expect(await game.count('impressions')).toBe(1);
    } finally {
      await game.stop();
    }
  });
});
