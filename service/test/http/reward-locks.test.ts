import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventBatchResult } from '@trueward/protocol/wire';
import type { Scope } from '../../src/store/database.ts';
import { lockViewers } from '../../src/store/lock-viewers.ts';
import { countLockWaits, createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Game, startGame } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  if (hasPostgres) game = await startGame(await createPostgresDatabase());
});
afterAll(() => game?.stop());

// A player's rewards are decided on one after another, although they are decided on by several processes.
test.skipIf(!hasPostgres).each<[what: string, first: 'impression' | 'completion']>([
  ['a completion', 'impression'],
  ['an impression that follows the completion', 'completion'],
])('%s waits for another decision on its player', async (_what, first) => {
  const { database } = game.service;
  const decision = await game.decide(first);
  await game.report(game.createEvent(decision, 'start'));
  game.advance(5_000);
  const [impression, completion] = [
    game.createImpression(decision),
    game.createCompletion(decision),
  ];
  await game.report(first === 'impression' ? impression : completion);
  const [row] = await database.query<Scope & { viewer: string }>(
    'SELECT account_id AS "accountId", environment, viewer FROM decisions WHERE id = $1',
    [decision.id],
  );
  if (!row) throw new Error('The decision was not stored.');
  let reporting: Promise<EventBatchResult> | undefined;
  await database.transaction(async (queries) => {
    await lockViewers(queries, row, [row.viewer], game.clock.nowMs());
    reporting = game.report(first === 'impression' ? completion : impression);
    reporting.catch(() => undefined);
    await expect.poll(() => countLockWaits(database)).toBe(1);
  });
  expect((await reporting)?.decisions).toMatchObject([{ state: 'earned' }]);
});
