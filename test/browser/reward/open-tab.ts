import { promisifyRequest } from 'idb-keyval';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Decision, RewardStatus } from '../../../protocol/wire.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import type { Presence } from '../../../src/platform/locks.ts';
import { createRewards, type Rewards } from '../../../src/reward/rewards.ts';
import { createLedger } from '../../../src/reward/ledger.ts';
import type { ServiceResult, Call, Guard } from '../../../src/transport/service-client.ts';
import { deleteDatabase } from '../../support/delete-database.ts';
import { createTestNetwork, createTestPage } from '../../support/ports.ts';
import { findPlayerChanges } from '../neighbor.ts';

let name: string;
const openLedgers: Rewards[] = [];
export const decision = (id: string): Decision => ({
  id,
  status: 'filled',
  placement: 'revive',
  format: 'rewarded',
  reward: { type: 'coins', amount: 10 },
  token: `token-${id}`,
  issued_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:10:00.000Z',
});
export const earnedStatus = (id: string): RewardStatus => ({
  id,
  state: 'earned',
  reward: { type: 'coins', amount: 10 },
  receipt: 'jws',
});
const offline: ServiceResult<RewardStatus> = { kind: 'unreachable', cause: 'network' };

/** Opens a tab with its own connection to the shared ledger. */
export const openTab = (
  clock?: Clock,
  indexedDB?: IDBFactory,
  ledgerClock?: Clock,
  firstPlayer?: string | null,
  presence?: Presence,
) => {
  const tab = openTabWithLedger(name, clock, indexedDB, ledgerClock, firstPlayer, presence);
  openLedgers.push(tab.rewards);
  return tab;
};

/** Opens a tab that uses the ledger with this name. The test must close the tab. */
export function openTabWithLedger(
  ledgerName: string,
  clock: Clock = systemClock,
  indexedDB?: IDBFactory,
  ledgerClock = clock,
  firstPlayer: string | null = '',
  presence?: Presence,
) {
  const requests: { id: string; waitS: number; signal: AbortSignal | undefined }[] = [];
  const responses: (ServiceResult<RewardStatus> | Promise<ServiceResult<RewardStatus>>)[] = [];
  const page = createTestPage();
  const network = createTestNetwork();
  const frames: (() => void)[] = [];
  let running = true;
  let player: { ref: string | undefined } = { ref: firstPlayer ?? undefined };
  let identifyCalls = 0;
  const rewards = createRewards({
    clock,
    random: () => 1,
    presence,
    lifecycle: page,
    connectivity: network,
    player: { player: () => player, identify: () => void (identifyCalls += 1) },
    ledger: createLedger({ name: ledgerName, clock: ledgerClock, indexedDB }),
    deliver(callback) {
      let canceled = false;
      const call = (): void => {
        if (!canceled) callback();
      };
      if (running) queueMicrotask(call);
      else frames.push(call);
      return () => (canceled = true);
    },
    client: {
      async call<T>(path: string, _guard: Guard<T>, { signal }: Call) {
        const { pathname, searchParams } = new URL(path, 'https://ads.test');
        const id = pathname.split('/').at(-1) ?? '';
        requests.push({ id, waitS: Number(searchParams.get('wait_s')), signal });
        return ((await responses.shift()) ?? offline) as ServiceResult<T>;
      },
    },
  });
  const stopFrames = () => (running = false);
  /** Switches the game to another player. */
  const setPlayer = (next: string | undefined, transferRewards = false) => {
    const previousRef = player.ref;
    player = { ref: next };
    return rewards.setPlayer(transferRewards ? previousRef : undefined);
  };
  /** Identifies the player as a user token would. */
  const identify = (playerRef: string) => {
    player.ref = playerRef;
    return rewards.refresh();
  };
  return {
    rewards,
    requests,
    responses,
    page,
    network,
    frames,
    stopFrames,
    setPlayer,
    identify,
    identifyCalls: () => identifyCalls,
  };
}
/**
 * Returns a ledger clock with real timers, so that database timeouts are not counted among the manual clock's timers.
 */
export const withoutDatabaseTimeouts = (clock: Clock): Clock => ({
  ...clock,
  after: systemClock.after,
});
export const watch = async (rewards: Rewards, id: string, playerRef?: string) => {
  await rewards.track(decision(id), playerRef === undefined ? undefined : { ref: playerRef });
  await rewards.setWatched(id);
};

/** Watches an ad to the end and confirms its reward. */
export const earn = async (rewards: Rewards, id: string, playerRef?: string) => {
  await watch(rewards, id, playerRef);
  await rewards.settle([earnedStatus(id)]);
};

/** Opens the ledger's object store. */
export async function openLedgerStore(): Promise<{ store: IDBObjectStore; close(): void }> {
  const connection = await promisifyRequest(indexedDB.open(name));
  const store = connection.transaction('rewards', 'readwrite').objectStore('rewards');
  return { store, close: () => connection.close() };
}

/**
 * Holds a transaction on the whole ledger open, which blocks all other transactions. Returns a function that ends the
 * transaction.
 */
export async function lockLedger(): Promise<() => void> {
  const connection = await promisifyRequest(indexedDB.open(name));
  const store = connection.transaction('rewards', 'readwrite').objectStore('rewards');
  let isHeld = true;
  const hold = (): void => {
    if (isHeld) store.get('none').onsuccess = hold;
    else connection.close();
  };
  hold();
  return () => (isHeld = false);
}

beforeEach(() => {
  name = `rewards-${newRandomId()}`;
});
afterEach(async () => {
  for (const rewards of openLedgers.splice(0)) rewards.destroy();
  expect(await findPlayerChanges(name)).toEqual([]);
  await deleteDatabase(name);
});
