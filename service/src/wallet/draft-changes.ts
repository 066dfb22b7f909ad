import { applyChange, type Entry, type Holding, type WalletChange } from './wallet.ts';

/** What a player has of one type. */
export interface HoldingRow extends Holding {
  /** The player's pseudonym. */
  viewer: string;
}

/** A change to a player's wallet. */
export interface PlayerChange extends WalletChange {
  /** The player's pseudonym. */
  viewer: string;
}

/** Changes to players' wallets that have not been stored yet. */
export interface ChangeDraft {
  /** Applies a change after those before it. Returns undefined if the balance is not sufficient: nothing then changes. */
  apply(change: PlayerChange): Entry | undefined;
  /** Returns the balance after the changes so far. */
  balance(viewer: string, type: string): number;
  /** Returns the entries to store. */
  entries(): (Entry & { viewer: string })[];
  /** Returns what has changed of what the players have. */
  holdings(): HoldingRow[];
}

/** @param rows what the players have */
export function draftChanges(rows: readonly HoldingRow[], nowMs: number): ChangeDraft {
  const wallets = new Map<string, Map<string, Holding>>();
  const findWallet = (viewer: string): Map<string, Holding> => {
    const wallet = wallets.get(viewer) ?? new Map<string, Holding>();
    wallets.set(viewer, wallet);
    return wallet;
  };
  for (const { viewer, ...holding } of rows) findWallet(viewer).set(holding.type, holding);
  const changed = new Map<string, HoldingRow>();
  const entries: (Entry & { viewer: string })[] = [];
  return {
    apply({ viewer, ...change }) {
      const wallet = findWallet(viewer);
      const applied = applyChange([...wallet.values()], change, nowMs);
      if (!applied) return undefined;
      wallet.set(change.type, applied.holding);
      changed.set(JSON.stringify([viewer, change.type]), { viewer, ...applied.holding });
      entries.push({ viewer, ...applied.entry });
      return applied.entry;
    },
    balance: (viewer, type) => findWallet(viewer).get(type)?.balance ?? 0,
    entries: () => entries,
    holdings: () => [...changed.values()],
  };
}
