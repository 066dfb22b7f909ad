import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Queries } from '../../src/store/database.ts';
import { startGame, type Game } from './reward-game.ts';
import { updatePlacement } from './reward-operator.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

/**
 * Whether a statement reads or writes decisions and events. Excludes statements from the background jobs that delete
 * inactive players or poll for trackers.
 */
const isOfAds = (text: string): boolean =>
  /\b(decisions|timelines)\b|INTO (viewers|rollup_deltas)/.test(text) &&
  !text.includes('tracker_requests');

/** Records the relevant SQL statements, grouped by transaction. */
async function recordStatements(
  work: () => Promise<unknown>,
  isRelevant = isOfAds,
): Promise<{
  standaloneStatements: string[];
  transactions: string[][];
}> {
  const { database } = game.service;
  const standaloneStatements: string[] = [];
  const recordedTransactions: string[][] = [];
  const { query, execute, transaction } = database;
  vi.spyOn(database, 'query').mockImplementation((text, params) => {
    if (isRelevant(text)) standaloneStatements.push(text);
    return query(text, params);
  });
  vi.spyOn(database, 'execute').mockImplementation((text, params) => {
    if (isRelevant(text)) standaloneStatements.push(text);
    return execute(text, params);
  });
  vi.spyOn(database, 'transaction').mockImplementation((callback) =>
    transaction((queries) => {
      const statements: string[] = [];
      recordedTransactions.push(statements);
      const recordQuery: Queries['query'] = (text, params) => {
        if (isRelevant(text)) statements.push(text);
        return queries.query(text, params);
      };
      return callback({
        query: recordQuery,
        execute(text, params) {
          if (isRelevant(text)) statements.push(text);
          return queries.execute(text, params);
        },
      });
    }),
  );
  await work();
  vi.restoreAllMocks();
  return {
    standaloneStatements,
    transactions: recordedTransactions.filter((statements) => statements.length > 0),
  };
}

test('the response to a completion contains the earned reward', async () => {
  const decision = await game.decide('one-request');
  await game.report(game.createEvent(decision, 'start'));
  game.advance(2_000);
  await game.report(game.createImpression(decision));
  game.advance(3_000);
  const { results, decisions } = await game.report(game.createCompletion(decision));
  expect(results).toMatchObject([{ status: 'accepted' }]);
  expect(decisions).toMatchObject([
    { id: decision.id, state: 'earned', reward: { type: 'coins', amount: 25 } },
  ]);
  expect(decisions[0]?.receipt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
});

test('a completion is recorded and verified in a single transaction', async () => {
  const decision = await game.decide('one-transaction');
  await game.report(game.createEvent(decision, 'start'));
  game.advance(2_000);
  await game.report(game.createImpression(decision));
  game.advance(3_000);
  const { standaloneStatements, transactions } = await recordStatements(() =>
    game.report(game.createCompletion(decision)),
  );
  expect(standaloneStatements).toEqual([]);
  expect(transactions).toHaveLength(1);
  const [statements = []] = transactions;
  const updateIndex = statements.findIndex((text) =>
    text.includes('reward_state = move.reward_state'),
  );
  expect(
    statements.slice(0, updateIndex).some((text) => text.includes('INSERT INTO timelines')),
  ).toBe(true);
  // The number of statements must not depend on the number of events or rules.
  expect(statements.length).toBeLessThanOrEqual(9);
  expect((await game.readRewardStatus(decision.id)).state).toBe('earned');
});

test('a batch with events from many players is verified in a single transaction', async () => {
  const ads = await Promise.all(['a', 'b', 'c', 'd'].map((name) => game.decide(name)));
  await game.report(...ads.map((ad) => game.createEvent(ad, 'start')));
  game.advance(5_000);
  const { standaloneStatements, transactions } = await recordStatements(() =>
    game.report(...ads.flatMap((ad) => [game.createImpression(ad), game.createCompletion(ad)])),
  );
  expect(standaloneStatements).toEqual([]);
  expect(transactions).toHaveLength(1);
});

const locksPlayerRow = (statements: readonly string[]): boolean =>
  statements.some((text) => text.includes('INTO viewers'));

test("a completion locks the player's row, but a start does not", async () => {
  const decision = await game.decide('locked');
  const start = await recordStatements(() => game.report(game.createEvent(decision, 'start')));
  expect(start.transactions.map(locksPlayerRow)).toEqual([false]);
  game.advance(5_000);
  const completion = await recordStatements(() =>
    game.report(game.createImpression(decision), game.createCompletion(decision)),
  );
  expect(completion.transactions.map(locksPlayerRow)).toEqual([true]);
});

test("an impression after the completion locks the player's row", async () => {
  const decision = await game.decide('out-of-order');
  await game.report(game.createEvent(decision, 'start'));
  game.advance(2_000);
  const impression = game.createImpression(decision);
  game.advance(3_000);
  await game.report(game.createCompletion(decision));
  expect((await game.readRewardStatus(decision.id)).state).toBe('pending');
  const { standaloneStatements, transactions } = await recordStatements(() =>
    game.report(impression),
  );
  expect(standaloneStatements).toEqual([]);
  // The first transaction finds the completion and is rolled back. The second transaction locks the row.
  expect(transactions.map(locksPlayerRow)).toEqual([false, true]);
  expect(transactions[0]?.some((text) => text.includes('INSERT'))).toBe(false);
  expect((await game.readRewardStatus(decision.id)).state).toBe('earned');
});

test('an ad whose reward a server credits costs nothing for wallets', async () => {
  const isOfWallets = (text: string): boolean =>
    /wallet_|link_codes|player_tokens|grant_budgets/.test(text);
  const watchAd = async (userRef: string): Promise<string[]> => {
    const { standaloneStatements, transactions } = await recordStatements(async () => {
      const status = await game.watch(await game.decide(userRef));
      expect(status?.state).toBe('earned');
    }, isOfWallets);
    return [...standaloneStatements, ...transactions.flat()];
  };
  expect(await watchAd('of a server')).toEqual([]);
  await updatePlacement(game, 'revive', {
    reward: { type: 'coins', amount: 25, credit: 'wallet' },
  });
  // Reads the balances, and writes the balance and the entry.
  expect(await watchAd('of the service')).toHaveLength(3);
});
