import { del, get, set, update, values } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { createDatabase } from '../platform/database.ts';
import { type Shown, isShown } from './shown.ts';

/** The device’s guest player. */
export interface GuestRecord {
  ref: string;
  token: string;
}

/** A guest whose wallet is being moved to a player who has signed in. */
export interface TransferRecord extends GuestRecord {
  /** The player who gets it. */
  to: string;
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
  /** Stores a transfer. The device then has no guest any more. Rejects if the device can’t store it. */
  moveGuest(transfer: TransferRecord): Promise<void>;
  removeTransfer(transfer: TransferRecord): Promise<void>;
  readTransfers(): Promise<TransferRecord[]>;
  readWallet(ref: string): Promise<Shown | undefined>;
  writeWallet(shown: Shown): Promise<void>;
  /** Rejects if the device can’t store it: a spend must survive a crash. */
  writeSpend(spend: SpendRecord): Promise<void>;
  removeSpend(spend: SpendRecord): Promise<void>;
  /** Returns the player’s spends. */
  readSpends(ref: string): Promise<SpendRecord[]>;
  close(): void;
}

const isGuest = (value: unknown): value is GuestRecord => {
  const guest = value as Partial<GuestRecord> | undefined;
  return typeof guest?.ref === 'string' && typeof guest.token === 'string';
};
const readTransfers = (value: unknown): TransferRecord[] =>
  Array.isArray(value)
    ? (value as unknown[])
        .filter(isGuest)
        .filter(
          (guest): guest is TransferRecord => typeof (guest as TransferRecord).to === 'string',
        )
    : [];
const isSpend = (value: unknown): value is SpendRecord => {
  const spend = value as Partial<SpendRecord> | undefined;
  return (
    spend?.v === 1 &&
    [spend.id, spend.ref, spend.type].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(spend.amount)
  );
};

/** A game’s own ids are unique for a player, and a device may have several. */
const keyOf = ({ id, ref }: SpendRecord): string => JSON.stringify([ref, id]);

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
      const guest = await get<unknown>('guest', device);
      return isGuest(guest) ? guest : undefined;
    },
    writeGuest: (guest) => set('guest', guest, device),
    async moveGuest(transfer) {
      const add = (stored: unknown) => readTransfers(stored).concat(transfer);
      await update('transfers', add, device);
      await del('guest', device);
    },
    async removeTransfer({ token }) {
      const remove = (stored: unknown) =>
        readTransfers(stored).filter((transfer) => transfer.token !== token);
      await orNothing(update('transfers', remove, device));
    },
    readTransfers: async () => readTransfers(await orNothing(get<unknown>('transfers', device))),
    async readWallet(ref) {
      const shown = await orNothing(get<unknown>(`wallet ${ref}`, device));
      return isShown(shown) ? shown : undefined;
    },
    writeWallet: (shown) => orNothing(set(`wallet ${shown.ref}`, shown, device)),
    writeSpend: (spend) => set(keyOf(spend), spend, spends),
    removeSpend: (spend) => orNothing(del(keyOf(spend), spends)),
    async readSpends(ref) {
      const stored = (await orNothing(values<unknown>(spends))) ?? [];
      return stored.filter(isSpend).filter((spend) => spend.ref === ref);
    },
    close: database.close,
  };
}
