import { has } from '../platform/guard.ts';
import { isGuestRef, type Player } from '../player-context.ts';
import { createBackOff } from '../transport/back-off.ts';
import { toReasonCode } from '../transport/service-client.ts';
import type { Wallet as WireWallet } from '../../protocol/wire.ts';
import type { DeviceStore, TransferRecord } from './device-store.ts';
import type { Proof, WalletDeps } from './wallet.ts';

/** Moves the wallet of this device’s guest to the player who has signed in. */
export interface Transfers {
  /** Moves it to this player, if there is a guest. Goes on after a crash. Never rejects. */
  begin(target: Player): Promise<void>;
  /** Moves what has been credited to the guest since, and repeats what the service has not answered. */
  wake(): void;
  hurry(): void;
  stop(): void;
}

interface Deps extends WalletDeps {
  store: DeviceStore;
  isWallet(body: unknown): body is WireWallet;
  prove(): Promise<Proof>;
  /** Called with the wallet of the player who received something. */
  onMoved(ref: string, wallet: WireWallet): void;
}

/** Refusals that say that there is nothing to move. Any other, such as one of the key, may be lifted. */
const finalRefusals: readonly (string | undefined)[] = ['conflict', 'player_unknown'];

export function createTransfers(deps: Deps): Transfers {
  const { client, ledger, player, prove, signal, store } = deps;
  const backOff = createBackOff(deps, () => wake());
  let running = Promise.resolve();

  const send = async (
    record: TransferRecord,
    { headers }: Exclude<Proof, { outcome: unknown }>,
  ) => {
    const call = { body: { from: record.token }, headers, signal };
    const response = await client.call('/v1/wallet/transfers', deps.isWallet, call);
    if (response.kind === 'ok') {
      deps.onMoved(record.to, response.body);
      backOff.reset();
      // Rewards that are confirmed later follow.
      const isWaiting = ledger
        .cached()
        .some((entry) => entry.earnedBy === record.ref && entry.state === 'pending');
      if (!isWaiting) await store.removeTransfer(record);
    } else if (response.kind === 'refused' && finalRefusals.includes(toReasonCode(response)))
      // The guest is gone, or was moved to somebody else.
      await store.removeTransfer(record);
    else backOff.fail(response.kind === 'retry' ? response.retryAfterMs : undefined);
  };
  const run = async (): Promise<void> => {
    for (const record of await store.readTransfers()) {
      if (signal.aborted || player.player().ref !== record.to) continue;
      const proof = await prove();
      if (has(proof, 'headers') && proof.ref === record.to) await send(record, proof);
    }
  };
  const wake = (): void => {
    if (signal.aborted || backOff.isWaiting()) return;
    running = running.then(run).catch(() => undefined);
  };
  return {
    async begin(target) {
      const guest = await store.readGuest().catch(() => undefined);
      if (!guest || guest.ref === target.ref) return;
      const proof = await prove();
      // Only the player who has signed in then gets it, whoever plays by now. Another guest has not signed in.
      if (!has(proof, 'headers') || player.player() !== target || isGuestRef(proof.ref)) return;
      deps.moveRewards(guest.ref);
      await store.moveGuest({ ...guest, to: proof.ref }).catch(() => undefined);
      wake();
    },
    wake,
    hurry() {
      backOff.hurry();
      wake();
    },
    stop: backOff.cancel,
  };
}
