import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Guest, Problem, Spend, Wallet } from '../../protocol/wire.ts';
import { findSumDifferences } from '../../service/src/wallet/check-sums.ts';
import { startGame, type Game } from '../../service/test/http/reward-game.ts';
import { updatePlacement } from '../../service/test/http/reward-operator.ts';
import { signUserToken } from '../../src/server/index.ts';
import { createPostgresDatabase, hasPostgres } from '../../service/test/postgres-database.ts';

/** What a player does next. `id` is one of the player's spends, so that spends are repeated. */
type Step =
  | { kind: 'earn' }
  /** The guest signs in, and the wallet is moved. */
  | { kind: 'transfer' }
  | { kind: 'spend'; id: number; amount: number; type: 'coins' | 'gems' }
  /** The client disconnects after so many milliseconds. */
  | { kind: 'lose'; id: number; amount: number; afterMs: number };

const id = fc.integer({ min: 0, max: 5 });
const amount = fc.integer({ min: 1, max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('earn' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('transfer' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('spend' as const),
      id,
      amount,
      type: fc.constantFrom('coins' as const, 'coins' as const, 'gems' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lose' as const),
      id,
      amount,
      afterMs: fc.integer({ min: 0, max: 4 }),
    }),
  },
);
/** Each player's steps. The steps of one group happen at the same time, on several tabs and devices. */
const plan = fc.array(
  fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 5 }),
  { minLength: 2, maxLength: 4 },
);

const runs = inject('full') ? 100 : 4;

describe.each([
  ['the embedded database', () => Promise.resolve(undefined)],
  ['PostgreSQL', createPostgresDatabase],
])('wallets on %s', (name, createDatabase) => {
  const isSkipped = name === 'PostgreSQL' && !(hasPostgres && inject('full'));
  let game: Game;
  let userTokenSecret: string;
  beforeAll(async () => {
    if (isSkipped) return;
    game = await startGame(await createDatabase());
    await updatePlacement(game, 'revive', {
      reward: { type: 'coins', amount: 25, credit: 'wallet' },
    });
    const created = await game.client.manage<{ secret: string }>('POST', '/v1/user_token_secrets', {
      overlap_s: 86_400,
    });
    userTokenSecret = created.secret;
  });
  afterAll(() => game?.stop());

  const call = <T>(method: string, path: string, token: string, body?: object) =>
    game.client.call<T>(method, path, game.client.publishable, body, { 'player-token': token });

  /** Plays the steps, then repeats every spend until it is answered. Returns what the player must have. */
  async function play(groups: readonly Step[][]): Promise<{ tokens: string[]; coins: number }> {
    const { body: guest } = await game.client.call<Guest>(
      'POST',
      '/v1/players',
      game.client.publishable,
    );
    const { player_token: token } = guest;
    const now = () => game.clock.nowMs();
    const userToken = await signUserToken(randomUUID(), userTokenSecret, { now });
    const sent = new Map<number, object>();
    /** The first request of an id determines what it is for; a retry is equal. */
    const toRequest = (number: number, fields: object): object => {
      const request = sent.get(number) ?? { id: `spend-${number}-of-player`, ...fields };
      sent.set(number, request);
      return request;
    };
    const completed = new Map<string, Spend>();
    let earned = 0;
    const note = ({ status, body }: { status: number; body: Spend & Problem }): void => {
      if (status === 409) {
        // A charged spend is never refused later.
        expect(body.code).toBe('insufficient_balance');
        return;
      }
      expect(status).toBe(201);
      expect(completed.get(body.id) ?? body).toEqual(body);
      completed.set(body.id, body);
    };
    const spend = async (request: object): Promise<void> =>
      note(await call('POST', '/v1/wallet/spends', token, request));
    const run = async (action: Step): Promise<void> => {
      if (action.kind === 'earn') {
        const { body: decision } = await game.requestDecision({ user_token: token });
        if (decision.status !== 'filled') return;
        await game.report(game.createEvent(decision, 'start'));
        const watch = [game.createImpression(decision), game.createCompletion(decision)];
        game.advance(5_000);
        const { decisions } = await game.report(
          ...watch.map((event) => ({
            ...event,
            occurred_at: new Date(game.clock.nowMs()).toISOString(),
          })),
        );
        if (decisions[0]?.state === 'earned') earned += 1;
        return;
      }
      if (action.kind === 'transfer') {
        const { status } = await call('POST', '/v1/wallet/transfers', userToken, { from: token });
        // A player receives ten transfers at most.
        expect([200, 429]).toContain(status);
        return;
      }
      if (action.kind === 'spend')
        return spend(toRequest(action.id, { amount: action.amount, type: action.type }));
      const request = toRequest(action.id, { amount: action.amount, type: 'coins' });
      const controller = new AbortController();
      const lost = fetch(`${game.url}/v1/wallet/spends`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${game.client.publishable}`,
          'content-type': 'application/json',
          'player-token': token,
        },
        body: JSON.stringify(request),
        signal: controller.signal,
      }).catch(() => undefined);
      await sleep(action.afterMs);
      controller.abort();
      await lost;
    };
    for (const group of groups) await Promise.all(group.map(run));
    for (const request of sent.values()) await spend(request);
    const spent = [...completed.values()].reduce((sum, { amount: paid }) => sum + paid, 0);
    return { tokens: [token, userToken], coins: 25 * earned - spent };
  }

  test.skipIf(isSkipped)(
    'hold what was earned minus what was charged once, after retries and lost answers',
    { timeout: 60_000 + runs * 2_000 },
    async () => {
      let spends = 0;
      await fc.assert(
        fc.asyncProperty(plan, async (players) => {
          const results = await Promise.all(players.map(play));
          for (const { tokens, coins } of results) {
            const wallets = await Promise.all(
              tokens.map((token) => call<Wallet>('GET', '/v1/wallet', token)),
            );
            const sum = wallets.reduce(
              (total, { body }) => total + (body.balances['coins'] ?? 0),
              0,
            );
            expect(sum).toBe(coins);
          }
          expect(await findSumDifferences(game.service.database)).toEqual([]);
          spends += 1;
        }),
        { numRuns: runs },
      );
      expect(spends).toBeGreaterThanOrEqual(runs);
    },
  );
});
