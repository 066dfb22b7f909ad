import type { Ledger } from './ledger.ts';
import { isAwaited, type LedgerEntry } from './reward-machine.ts';

/**
 * The entry, held for `to` if it was held for `from` and can still be delivered. That includes state `none`, in
 * which its ad may be on the screen.
 */
export const transferred = (entry: LedgerEntry, from: string, to: string): LedgerEntry =>
  entry.heldFor === from && (entry.state === 'none' || isAwaited(entry))
    ? { ...entry, heldFor: to }
    : entry;

/** Transfers one player’s undelivered rewards to another. Other tabs may change the same entries meanwhile. */
export async function transferRewards(ledger: Ledger, from: string, to: string): Promise<void> {
  for (const entry of ledger.seen()) {
    if (transferred(entry, from, to) !== entry)
      await ledger.change(entry.decisionId, (now) => transferred(now, from, to));
  }
}
