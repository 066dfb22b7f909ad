import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createIds } from '../../src/platform/ids.ts';
import { systemClock } from '../../src/platform/time.ts';
import type { EventDraft } from '../../src/resource/change-events.ts';
import type { Database, Scope } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { createWalletService } from '../../src/wallet/wallet-service.ts';
import { addAccount } from '../add-account.ts';
import { openEmptyDatabase } from '../empty-database.ts';

const scope: Scope = { accountId: 'acc_1', environment: 'live' };
const ann = { playerRef: 'ann', viewer: 'viewer a' };
const bob = { playerRef: 'bob', viewer: 'viewer b' };

let database: Database;
beforeEach(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
  await addAccount(database, scope.accountId);
});
afterEach(() => database.close());

test('spends that arrive together share a transaction, and have the results that they would have one after another', async () => {
  let transactions = 0;
  const drafts: EventDraft[] = [];
  const wallets = createWalletService({
    database,
    clock: systemClock,
    makeId: createIds(systemClock, randomBytes),
    writeEvents: async (_queries, _scope, events) => {
      drafts.push(...events);
      return false;
    },
    lanes: {
      name: 'spends',
      openLane: noTracing.lane('spends'),
      gate: {
        run(_owner, work) {
          transactions += 1;
          return work();
        },
      },
      log: { warn: () => undefined },
    },
    onDeliveries: () => undefined,
  });
  const given = { id: 'grant', type: 'coins', amount: 25, durationS: undefined, reason: 'test' };
  for (const owner of [ann, bob])
    await database.transaction((queries) => wallets.grant(queries, scope, owner, given));
  drafts.length = 0;

  const spends = [
    [ann, 'hat', 'coins', 10, { amount: 10, balance: 15, version: 2 }],
    // The same id again, also at another price.
    [ann, 'hat', 'coins', 10, { amount: 10, balance: 15, version: 2 }],
    [ann, 'hat', 'gems', 3, { amount: 10, balance: 15, version: 2 }],
    [ann, 'boots', 'coins', 16, { refusal: 15 }],
    [ann, 'ring', 'gems', 1, { refusal: 0 }],
    [bob, 'hat', 'coins', 25, { amount: 25, balance: 0, version: 2 }],
    [ann, 'boots', 'coins', 15, { amount: 15, balance: 0, version: 3 }],
    [bob, 'boots', 'coins', 1, { refusal: 0 }],
  ] as const;
  const results = await Promise.all(
    spends.map(([owner, id, type, amount]) => wallets.spend(scope, owner, { id, type, amount })),
  );
  expect(transactions).toBe(1);
  expect(results).toEqual(
    spends.map(([, id, , , expected]) =>
      'refusal' in expected
        ? { refusal: 'insufficient_balance', balance: expected.refusal }
        : { spend: { id, type: 'coins', ...expected } },
    ),
  );
  expect(drafts).toMatchObject([
    { type: 'wallet.spent', viewer: ann.viewer, data: { user_ref: 'ann', entry_id: 'hat' } },
    { type: 'wallet.spent', viewer: bob.viewer, data: { user_ref: 'bob', entry_id: 'hat' } },
    { type: 'wallet.spent', viewer: ann.viewer, data: { user_ref: 'ann', entry_id: 'boots' } },
  ]);
  expect(await findSumDifferences(database)).toEqual([]);
});
