import { randomUUID } from 'node:crypto';
import type { Guest, Problem, Spend, Wallet } from '@trueward/protocol/wire';
import { expect } from 'vitest';
import { signUserToken } from '../../../src/server/index.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { type Game, startGame } from './reward-game.ts';
import { updatePlacement } from './reward-operator.ts';

export const coins = { type: 'coins', amount: 25, credit: 'wallet' } as const;
export const doubleXp = {
  type: 'double_xp',
  amount: 1,
  credit: 'wallet',
  duration_s: 600,
  max_active_s: 900,
} as const;

/** Starts a game whose placements credit rewards in wallets. */
export async function startWalletGame(databaseUrl?: string): Promise<Game> {
  const game = await startGame(databaseUrl);
  await updatePlacement(game, 'revive', { reward: coins });
  await updatePlacement(game, 'double-coins', { reward: doubleXp });
  return game;
}

/** Returns what the players of the current game can do with their wallets. */
export function createWalletPlayers(game: () => Game) {
  const call = <T>(
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    key = game().client.publishable,
  ) =>
    game().client.call<T>(
      method,
      path,
      key,
      body,
      token === undefined ? {} : { 'player-token': token },
    );
  return {
    call,
    /** Calls an operation of a server or an operator. */
    manage: <T>(method: string, path: string, body?: object) =>
      game().client.call<T & Problem>(method, path, game().client.secret, body),
    async makeGuest(): Promise<Guest> {
      const { status, body } = await call<Guest>('POST', '/v1/players');
      expect(status).toBe(201);
      return body;
    },
    async makeUserToken(userRef: string): Promise<string> {
      const path = '/v1/user_token_secrets';
      const body = { overlap_s: 86_400 };
      const { secret } = await game().client.manage<{ secret: string }>('POST', path, body);
      return signUserToken(userRef, secret, { now: () => game().clock.nowMs() });
    },
    async readWallet(token: string): Promise<Wallet> {
      const { status, body } = await call<Wallet>('GET', '/v1/wallet', token);
      expect(status).toBe(200);
      return body;
    },
    spend: (token: string, request: object) =>
      call<Spend & Problem>('POST', '/v1/wallet/spends', token, {
        id: randomUUID(),
        type: 'coins',
        amount: 10,
        ...request,
      }),
    /** Watches an ad as this guest. */
    async earn(token: string, placement = 'revive'): Promise<string> {
      const { body } = await game().requestDecision({ user_token: token, placement });
      expect((await game().watch(body))?.state).toBe('earned');
      return body.id;
    },
    findDifferences: () => findSumDifferences(game().service.database),
  };
}
