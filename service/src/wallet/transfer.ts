import type { Queries, Scope } from '../store/database.ts';
import type { MakeId } from '../platform/ids.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import type { PlayerChange } from './draft-changes.ts';
import { type Entry, maxBalance } from './wallet.ts';
import { findTransfers, readHoldings, writeChanges } from './wallet-store.ts';

/** The players of a transfer, by their pseudonyms. */
interface Transfer {
  from: string;
  to: string;
}

/** How many transfers a player may receive within 30 days, so that the wallets of many guests can't be collected. */
const maxTransfers = 10;
const periodMs = 30 * 86_400_000;

/** The entries that the receiver got, or why nothing was moved. */
export type TransferResult = { entries: Entry[] } | { refusal: 'moved_elsewhere' | 'too_many' };

/**
 * Moves everything that a guest has to a player who has signed in, as pairs of entries with the same id. The guest's
 * rewards that are confirmed later can follow, but only to the same player.
 */
export async function transferWallet(
  queries: Queries,
  scope: Scope,
  makeId: MakeId,
  { from, to }: Transfer,
  nowMs: number,
): Promise<TransferResult> {
  await lockViewers(queries, scope, [from, to], nowMs);
  const rows = await readHoldings(queries, scope, [from, to]);
  const roomFor = (type: string): number =>
    maxBalance - (rows.find((row) => row.viewer === to && row.type === type)?.balance ?? 0);
  const moves = rows
    .filter(({ viewer }) => viewer === from)
    .flatMap(({ type, balance, activeUntilMs }) => {
      const durationS = Math.max(0, Math.ceil(((activeUntilMs ?? 0) - nowMs) / 1_000));
      // What doesn't fit stays where it is.
      const amount = Math.min(balance, roomFor(type));
      return amount > 0 || durationS > 0 ? [{ type, amount, durationS }] : [];
    });
  const earlier = await findTransfers(queries, scope, [from, to]);
  const received = earlier.filter(({ viewer }) => viewer === to);
  const ids = new Set(received.map(({ id }) => id));
  if (earlier.some(({ viewer, id }) => viewer === from && !ids.has(id)))
    return { refusal: 'moved_elsewhere' };
  const recent = new Set(
    received.map(({ at }) => at.getTime()).filter((atMs) => atMs > nowMs - periodMs),
  );
  if (moves.length > 0 && recent.size >= maxTransfers) return { refusal: 'too_many' };
  const changes = moves.flatMap(({ type, amount, durationS }): PlayerChange[] => {
    const change = { id: makeId('transfer'), kind: 'transfer', type } as const;
    const [taken, given] = durationS > 0 ? [-durationS, durationS] : [];
    return [
      { ...change, viewer: from, delta: -amount, durationS: taken },
      // The limits are for what is credited: time that the guest already had is not lost.
      { ...change, viewer: to, delta: amount, durationS: given, maxActiveS: Infinity },
    ];
  });
  const entries = await writeChanges(queries, scope, rows, changes, nowMs);
  return { entries: entries.flatMap((entry, index) => (entry && index % 2 === 1 ? [entry] : [])) };
}
