import { promisifyRequest, type UseStore, values } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { createDatabase, waitForCommit } from '../platform/database.ts';
import { type Shown, isShown } from './shown.ts';

/** The device’s guest player. */
export interface GuestRecord {
  ref: string;
  token: string;
}

/** A spend that the service has not answered, or whose `spend` event has not been handled. */
export interface SpendRecord {
  /** Version of this format. */
  v: 1;
  id: string;
  /** The player who spends. */
  ref: string;
  type: string;
  amount: number;
  reason?: string;
  /** Whether the service has charged the player. */
  charged: boolean;
}

/** What the wallet stores on the device. */
export interface DeviceStore {
  /** Rejects if the device can’t be read. */
  readGuest(): Promise<GuestRecord | undefined>;
  /** Rejects if the device can’t store it. */
  writeGuest(guest: GuestRecord): Promise<void>;
  readWallet(ref: string): Promise<Shown | undefined>;
  writeWallet(shown: Shown): Promise<void>;
  /** Rejects if the device can’t store it: a spend must survive a crash. */
  writeSpend(spend: SpendRecord): Promise<void>;
  removeSpend(id: string): Promise<void>;
  /** Returns the player’s spends. */
  readSpends(ref: string): Promise<SpendRecord[]>;
  close(): void;
}

const isGuest = (value: unknown): value is GuestRecord => {
  const guest = value as Partial<GuestRecord> | undefined;
  return typeof guest?.ref === 'string' && typeof guest.token === 'string';
};
const isSpend = (value: unknown): value is SpendRecord => {
  const spend = value as Partial<SpendRecord> | undefined;
  return (
    spend?.v === 1 &&
    [spend.id, spend.ref, spend.type].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(spend.amount)
  );
};

/** Like idb-keyval’s functions, which are not used elsewhere: here, they don’t enlarge the main file. */
const get = (name: string, store: UseStore): Promise<unknown> =>
  store('readonly', (objects) => promisifyRequest<unknown>(objects.get(name)));
const change = (store: UseStore, work: (objects: IDBObjectStore) => void): Promise<void> =>
  store('readwrite', (objects) => {
    work(objects);
    return waitForCommit(objects.transaction);
  });
const set = (name: string, value: unknown, store: UseStore): Promise<void> =>
  change(store, (objects) => void objects.put(value, name));

export function createDeviceStore(options: { name: string; clock: Clock }): DeviceStore {
  const inStore = { autoIncrement: false };
  const database = createDatabase({
    ...options,
    name: `${options.name}:wallet`,
    stores: { device: inStore, spends: inStore },
  });
  const device = database.store('device', 'strict');
  const spends = database.store('spends', 'strict');
  /** What can be read again from the service. */
  const orNothing = <T>(operation: Promise<T>): Promise<T | undefined> =>
    operation.catch(() => undefined);
  return {
    async readGuest() {
      const guest = await get('guest', device);
      return isGuest(guest) ? guest : undefined;
    },
    writeGuest: (guest) => set('guest', guest, device),
    async readWallet(ref) {
      const shown = await orNothing(get(`wallet ${ref}`, device));
      return isShown(shown) ? shown : undefined;
    },
    writeWallet: (shown) => orNothing(set(`wallet ${shown.ref}`, shown, device)),
    writeSpend: (spend) => set(spend.id, spend, spends),
    removeSpend: (id) => orNothing(change(spends, (objects) => void objects.delete(id))),
    async readSpends(ref) {
      const stored = (await orNothing(values<unknown>(spends))) ?? [];
      return stored.filter(isSpend).filter((spend) => spend.ref === ref);
    },
    close: database.close,
  };
}
