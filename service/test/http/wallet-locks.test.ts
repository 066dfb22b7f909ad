import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createIds } from '../../src/platform/ids.ts';
import { systemClock } from '../../src/platform/time.ts';
import type { Database, Queries, Scope } from '../../src/store/database.ts';
import { lockViewers } from '../../src/store/lock-viewers.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { transferWallet } from '../../src/wallet/transfer.ts';
import type { WalletChange } from '../../src/wallet/wallet.ts';
import type { WalletService } from '../../src/wallet/wallet-service.ts';
import { readHoldings, writeChanges } from '../../src/wallet/wallet-store.ts';
import { addAccount } from '../add-account.ts';
import { openWallets } from '../open-wallets.ts';
import { countLockWaits, createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

// Several processes change wallets. Whoever changes one waits for a change that has begun, and then goes by what it did.

const scope: Scope = { accountId: 'acc_1', environment: 'live' };
const makeId = createIds(systemClock, randomBytes);

let database: Database;
let wallets: WalletService;
let players = 0;
beforeAll(async () => {
  if (!hasPostgres) return;
  database = openPostgres(await createPostgresDatabase(), () => undefined);
  await addAccount(database, scope.accountId);
  wallets = openWallets(database);
});
afterAll(() => database?.close());

/** Makes a player who has 25 coins. */
async function makePlayer() {
  players += 1;
  const owner = { playerRef: `player ${players}`, viewer: `viewer ${players}` };
  await give(owner, 25);
  return owner;
}
type Player = Awaited<ReturnType<typeof makePlayer>>;

const give = (owner: Player, amount: number) =>
  database.transaction((queries) =>
    wallets.grant(queries, scope, owner, {
      id: makeId('grant'),
      type: 'coins',
      amount,
      durationS: undefined,
      reason: 'test',
    }),
  );
const spend = (owner: Player, id: string, amount: number) =>
  wallets.spend(scope, owner, { id, type: 'coins', amount });
const readCoins = async (owner: Player) => (await wallets.read(scope, owner)).balances['coins'];

/** What another process does with ann’s wallet, which it has locked. */
type Change = (queries: Queries, ann: Player, bob: Player) => Promise<unknown>;

const change =
  (made: Pick<WalletChange, 'id' | 'kind' | 'delta'>): Change =>
  async (queries, { viewer }) => {
    const rows = await readHoldings(queries, scope, [viewer]);
    const whole = { viewer, type: 'coins', ...made };
    await writeChanges(queries, scope, rows, [whole], systemClock.nowMs());
  };
const spends20 = change({ id: 'hat', kind: 'spend', delta: -20 });
const credits20 = change({ id: 'dec_1', kind: 'reward', delta: 20 });
const movesToBob: Change = (queries, { viewer: from }, { viewer: to }) =>
  transferWallet(queries, scope, makeId, { from, to }, systemClock.nowMs());

describe.skipIf(!hasPostgres)('while another process changes a wallet', () => {
  test.each<[what: string, Change, (ann: Player, bob: Player) => Promise<unknown>, result: object]>(
    [
      ['a spend has what is left', spends20, (ann) => spend(ann, 'ring', 6), { balance: 5 }],
      ['a spend has what is credited', credits20, (ann) => spend(ann, 'ring', 45), { coins: 0 }],
      [
        'the same spend is charged once',
        spends20,
        (ann) => spend(ann, 'hat', 20),
        { spend: { id: 'hat', type: 'coins', amount: 20, balance: 5, version: 2 } },
      ],
      [
        'a grant adds to what is left',
        spends20,
        (ann) => give(ann, 10),
        { balance: 15, version: 3 },
      ],
      ['a guest takes along what is left', spends20, (ann, bob) => move(ann, bob), { coins: 30 }],
      ['a receiver keeps what is left', spends20, (ann, bob) => move(bob, ann), { coins: 30 }],
      [
        'a guest who has moved takes along nothing',
        movesToBob,
        async (ann) => move(ann, await makePlayer()),
        { refusal: 'moved_elsewhere' },
      ],
    ],
  )('%s', async (_what, changeFirst, act, expected) => {
    const [ann, bob] = [await makePlayer(), await makePlayer()];
    let acting: Promise<unknown> | undefined;
    await database.transaction(async (queries) => {
      await lockViewers(queries, scope, [ann.viewer], systemClock.nowMs());
      acting = act(ann, bob);
      acting.catch(() => undefined);
      await expect.poll(() => countLockWaits(database)).toBe(1);
      await changeFirst(queries, ann, bob);
    });
    const result = { coins: 0, ...((await acting) as object) };
    expect(result).toMatchObject(expected);
    expect(await findSumDifferences(database)).toEqual([]);
  });
});

/** Moves a wallet. Resolves to what the receiver then has, or why nothing was moved. */
async function move(from: Player, to: Player) {
  const moved = await wallets.transfer(scope, from, to);
  return 'refusal' in moved ? moved : { coins: await readCoins(to) };
}
