import type { Player } from '../player-context.ts';
import { type Confirmation, type ConfirmationParts, createConfirmation } from './confirmation.ts';
import { createDelivery, type Delivery, type DeliveryParts } from './delivery.ts';
import { isAwaited, type LedgerEntry } from './reward-machine.ts';

/** What pending and undelivered rewards need. A page without any does not load this code. */
export interface Pursuit {
  confirmation: Confirmation;
  delivery: Delivery;
  /** Assigns rewards to players who have been identified since, and removes these rewards from `unowned`. */
  assign(unowned: Map<string, Player>): Promise<void>;
  /** Transfers one player’s undelivered rewards to another; resolves to true. */
  transfer(from: string, to: string): Promise<boolean>;
}

/**
 * The entry, held for `to` if it was held for `from` and can still be delivered. That includes state `none`, in
 * which its ad may be on the screen.
 */
export const transferred = (entry: LedgerEntry, from: string, to: string): LedgerEntry =>
  entry.heldFor === from && (entry.state === 'none' || isAwaited(entry))
    ? { ...entry, heldFor: to }
    : entry;

/** Starts polling for pending rewards and delivering earned ones. */
export function pursueRewards(parts: ConfirmationParts & DeliveryParts): Pursuit {
  const { ledger } = parts;
  const confirmation = createConfirmation(parts);
  const delivery = createDelivery(parts);
  confirmation.wake();
  delivery.wake();
  return {
    confirmation,
    delivery,
    async assign(unowned) {
      for (const [decisionId, { ref }] of unowned) {
        if (ref === undefined) continue;
        const own = (entry: LedgerEntry) => ({ ...entry, earnedBy: ref, heldFor: ref });
        // An entry that is still being added is assigned next time.
        if (await ledger.change(decisionId, own)) unowned.delete(decisionId);
      }
    },
    async transfer(from, to) {
      for (const entry of ledger.seen()) {
        // Other tabs may change the same entries meanwhile.
        if (transferred(entry, from, to) !== entry)
          await ledger.change(entry.decisionId, (now) => transferred(now, from, to));
      }
      return true;
    },
  };
}
