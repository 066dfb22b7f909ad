import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAdViews } from '../../src/reward/read-decisions.ts';
import type { Scope } from '../../src/store/database.ts';
import { type Game, startGame } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

test('an ad view has the times at which its ad was issued, watched and reported', async () => {
  const { database } = game.service;
  const issuedAtMs = game.clock.nowMs();
  const decision = await game.decide('traveler');
  game.advance(1_000);
  const start = game.createEvent(decision, 'start');
  game.advance(5_000);
  const rest = [game.createImpression(decision), game.createCompletion(decision)];
  // The device was offline, so what it reports is long ago.
  game.advance(3_600_000);
  const { decisions } = await game.report(start, ...rest);
  expect(decisions).toMatchObject([{ state: 'earned' }]);
  const [row] = await database.query<Scope & { viewer: string }>(
    'SELECT account_id AS "accountId", environment, viewer FROM decisions WHERE id = $1',
    [decision.id],
  );
  if (!row) throw new Error('The decision was not stored.');
  expect(await readAdViews(database, row, [row.viewer], issuedAtMs)).toEqual([
    {
      viewer: row.viewer,
      decisionId: decision.id,
      issuedAtMs,
      fromMs: issuedAtMs + 1_000,
      toMs: issuedAtMs + 6_000,
      receivedAtMs: issuedAtMs + 3_606_000,
      requiredMs: 5_000,
      offsetMs: 0,
    },
  ]);
});
