import { afterEach, expect, it } from 'vitest';
import {
  createDeviceStore,
  type DeviceStore,
  type SpendRecord,
} from '../../../src/wallet/device-store.ts';
import { createManualClock } from '../../support/manual-clock.ts';

// What the wallet stores on a device that several players share, in a real IndexedDB.

const stores: DeviceStore[] = [];
afterEach(() => stores.splice(0).forEach((store) => store.close()));

let names = 0;
function openStore(): DeviceStore {
  const store = createDeviceStore({ name: `store-${(names += 1)}`, clock: createManualClock() });
  stores.push(store);
  return store;
}

const spend = (ref: string, id: string): SpendRecord => ({
  v: 1,
  id,
  ref,
  type: 'coins',
  amount: 2,
  charged: false,
});
const transfer = (ref: string) => ({ ref, token: `${ref}-token`, to: 'ann' });

it('two players’ spends with the same id are two spends', async () => {
  const store = openStore();
  await store.writeSpend(spend('ann', 'hat'));
  await store.writeSpend(spend('bob', 'hat'));
  expect(await store.readSpends('ann')).toEqual([spend('ann', 'hat')]);
  await store.removeSpend(spend('ann', 'hat'));
  expect(await store.readSpends('ann')).toEqual([]);
  expect(await store.readSpends('bob')).toEqual([spend('bob', 'hat')]);
});

it('a transfer that is done leaves the others', async () => {
  const store = openStore();
  for (const ref of ['guest-1', 'guest-2', 'guest-3']) await store.moveGuest(transfer(ref));
  await store.removeTransfer(transfer('guest-2'));
  expect(await store.readTransfers()).toEqual([transfer('guest-1'), transfer('guest-3')]);
});

it('a guest whose transfer can’t be stored stays', async () => {
  const store = openStore();
  const guest = { ref: 'guest-1', token: 'guest-1-token' };
  await store.writeGuest(guest);
  // No database can store a function.
  const broken = { ...transfer('guest-1'), to: (() => 'ann') as never };
  await expect(store.moveGuest(broken)).rejects.toThrow();
  expect(await store.readGuest()).toEqual(guest);
  await store.moveGuest(transfer('guest-1'));
  expect(await store.readGuest()).toBeUndefined();
});
