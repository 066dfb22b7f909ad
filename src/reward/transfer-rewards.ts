import type { Ledger } from './ledger.ts';
import { isAwaited, type LedgerEntry } from './reward-machine.ts';

/**
 * The entry in the hands of `to`, if it was held for `from` and something can still come of it. The ad of
 * an entry in state `none` may be on the screen.
 */
export const transferred = (entry: LedgerEntry, from: string, to: string): LedgerEntry =>
  entry.heldFor === from && (entry.state === 'none' || isAwaited(entry))
    ? { ...entry, heldFor: to }
    : entry;

/** Hands what one player has still to get to another one. Other tabs may be at work on the same entries. */
export async function transferRewards(ledger: Ledger, from: string, to: string): Promise<void> {
  for (const entry of ledger.seen()) {
    if (transferred(entry, from, to) !== entry)
      await ledger.change(entry.decisionId, (now) => transferred(now, from, to));
  }
}
