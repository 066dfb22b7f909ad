import { randomBytes } from 'node:crypto';
import { createPlayerTokens } from '../../src/access/player-tokens.ts';
import { deleteWallets } from '../../src/history/delete-records.ts';
import { createIds } from '../../src/platform/ids.ts';
import { systemClock } from '../../src/platform/time.ts';
import type { Database, Scope } from '../../src/store/database.ts';
import { lockViewers } from '../../src/store/lock-viewers.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { creditRewards } from '../../src/wallet/credit-rewards.ts';
import {
  listGrantBudgets,
  setGrantBudget,
  takeFromBudget,
} from '../../src/wallet/grant-budgets.ts';
import { listEntries } from '../../src/wallet/list-entries.ts';
import { readWalletReport } from '../../src/wallet/wallet-report.ts';
import { openWallets } from '../open-wallets.ts';
import { expectEqual } from './expect-equal.ts';

const makeId = createIds(systemClock, randomBytes);
const writeEvents = async (): Promise<boolean> => false;

/** The statements of wallets that distributed databases may not support, for one account. */
export const createWalletProbes = (
  scope: Scope,
): Record<string, (database: Database) => Promise<void>> => {
  const owner = { playerRef: 'ply_probe', viewer: 'wallet probe' };
  const user = { playerRef: 'probe', viewer: 'wallet user' };
  return {
    'a guest links a device, once, and is signed out': async (database) => {
      const tokens = createPlayerTokens({
        database,
        clock: systemClock,
        makeId,
        tokenSecret: 'probe',
        pseudonym: (_scope, playerRef) => playerRef,
      });
      const { playerRef, playerToken } = await tokens.create(scope);
      const { code } = await tokens.createLinkCode(database, scope, playerRef);
      const link = async () => (await tokens.link(scope, code))?.playerRef;
      expectEqual([await link(), await link()], [playerRef, undefined]);
      expectEqual(await tokens.find(scope, playerToken), playerRef);
      await database.transaction(async (queries) => {
        expectEqual((await tokens.listDevices(queries, scope, playerRef)).length, 2);
        expectEqual(await tokens.revoke(queries, scope, playerRef), 2);
      });
      expectEqual(await tokens.find(scope, playerToken), undefined);
    },
    'rewards are credited, spent once per id, and moved; the entries add up': async (database) => {
      const wallets = openWallets(database);
      const nowMs = Date.now();
      const reward = { type: 'coins', amount: 5, credit: 'wallet' } as const;
      const timed = { type: 'no_ads', amount: 1, credit: 'wallet', duration_s: 600 } as const;
      await database.transaction(async (queries) => {
        await lockViewers(queries, scope, [owner.viewer], nowMs);
        const earned = [reward, timed].map((each) => ({
          decisionId: makeId('decision'),
          viewer: owner.viewer,
          userRef: owner.playerRef,
          reward: each,
        }));
        await creditRewards(queries, writeEvents, scope, earned, nowMs);
      });
      const id = makeId('webhookEvent');
      const spend = { id, type: 'coins', amount: 2, reason: 'hat' };
      const spends = await Promise.all([
        wallets.spend(scope, owner, spend),
        wallets.spend(scope, owner, spend),
      ]);
      expectEqual(
        spends.map((result) => 'spend' in result && result.spend.balance),
        [3, 3],
      );
      expectEqual(await wallets.spend(scope, owner, { ...spend, id: `${id}2`, amount: 4 }), {
        refusal: 'insufficient_balance',
        balance: 3,
      });
      const moved = await wallets.transfer(scope, owner, user);
      expectEqual('balances' in moved && moved.balances, { coins: 3 });
      expectEqual(await wallets.hasActive(scope, user.viewer, ['no_ads']), true);
      const page = { limit: 100, before: Number.MAX_SAFE_INTEGER };
      expectEqual(
        (await listEntries(database, scope, owner.viewer, page)).map(({ kind }) => kind),
        ['transfer', 'transfer', 'spend', 'reward', 'reward'],
      );
      const differences = await findSumDifferences(database);
      expectEqual(
        differences.filter(({ accountId }) => accountId === scope.accountId),
        [],
      );
    },
    'a report counts a wallet’s changes, and an erasure deletes them': async (database) => {
      const nowMs = Date.now();
      const period = { fromMs: nowMs - 3_600_000, toMs: nowMs + 3_600_000, timeZone: 'UTC' };
      const report = await readWalletReport(database, scope, period, nowMs);
      expectEqual(
        report.data.map(({ kind, reason, amount }) => [kind, reason, amount]),
        [
          ['reward', undefined, 5],
          ['reward', undefined, 0],
          ['spend', 'hat', 2],
        ],
      );
      expectEqual(report.players, { earned: 1, spent: 1, earned_and_spent: 1 });
      expectEqual(report.holdings.length, 2);
      await database.transaction(async (queries) => {
        const viewers = [owner.viewer, user.viewer];
        await lockViewers(queries, scope, viewers, nowMs);
        expectEqual(await deleteWallets(queries, scope, viewers), 7);
      });
    },
    'a day’s budget is not exceeded by grants at the same time': async (database) => {
      const nowMs = Date.now();
      const part = { type: 'coins', amount: 60, durationS: 0 };
      await setGrantBudget(database, scope, { ...part, amount: 100 }, nowMs);
      const takes = await Promise.allSettled(
        [1, 2].map(() =>
          database.transaction((queries) => takeFromBudget(queries, scope, part, nowMs)),
        ),
      );
      expectEqual(takes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      const [budget] = await listGrantBudgets(database, scope, nowMs);
      expectEqual([budget?.amount, budget?.used_amount], [100, 60]);
    },
  };
};
