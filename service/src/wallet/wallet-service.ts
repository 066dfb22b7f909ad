import type { Spend, SpendRequest, Wallet, WalletEntry } from '@trueward/protocol/wire';
import { formatInstant, type Clock } from '../platform/time.ts';
import type { Database, Queries, Scope } from '../store/database.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import { type Entry, readVersion } from './wallet.ts';
import { findEntry, readHoldings, writeChanges } from './wallet-store.ts';

/** A player whose identity is proven. */
export interface WalletOwner {
  playerRef: string;
  /** The player's pseudonym. */
  viewer: string;
}

/** A spend, or why it was refused. */
export type SpendResult =
  | { spend: Spend }
  | { refusal: 'insufficient_balance'; balance: number }
  | { refusal: 'id_reused' };

/** Reads and changes wallets. */
export interface WalletService {
  read(scope: Scope, owner: WalletOwner): Promise<Wallet>;
  /** Resolves to whether the player has a timed reward of one of these types now. */
  hasActive(scope: Scope, viewer: string, types: readonly string[]): Promise<boolean>;
  /** Spends once per id: a retry returns the first result. */
  spend(scope: Scope, owner: WalletOwner, request: SpendRequest): Promise<SpendResult>;
  /** Gives a player something, in the operation's transaction. */
  grant(queries: Queries, scope: Scope, viewer: string, grant: Grant): Promise<WalletEntry>;
}

/** What an operator gives. It has an amount or a time. */
export interface Grant {
  id: string;
  type: string;
  amount: number | undefined;
  durationS: number | undefined;
  reason: string;
}

/** How far ahead grants can extend a timed reward, in seconds: a year. */
const maxGrantedS = 31_536_000;

export function createWalletService(database: Database, clock: Clock): WalletService {
  return {
    async read(scope, { playerRef, viewer }) {
      const rows = await readHoldings(database, scope, [viewer]);
      const nowMs = clock.nowMs();
      const isActive = (untilMs: number | null): untilMs is number =>
        untilMs !== null && untilMs > nowMs;
      return {
        player_ref: playerRef,
        balances: Object.fromEntries(
          rows.flatMap(({ type, balance }) => (balance > 0 ? [[type, balance]] : [])),
        ),
        entitlements: rows.flatMap(({ type, activeUntilMs }) =>
          isActive(activeUntilMs) ? [{ type, active_until: formatInstant(activeUntilMs) }] : [],
        ),
        version: readVersion(rows),
        now: formatInstant(nowMs),
      };
    },
    async hasActive(scope, viewer, types) {
      const nowMs = clock.nowMs();
      const rows = await readHoldings(database, scope, [viewer]);
      return rows.some(
        ({ type, activeUntilMs }) =>
          activeUntilMs !== null && activeUntilMs > nowMs && types.includes(type),
      );
    },
    async grant(queries, scope, viewer, { amount = 0, ...grant }) {
      const nowMs = clock.nowMs();
      await lockViewers(queries, scope, [viewer], nowMs);
      const rows = await readHoldings(queries, scope, [viewer]);
      const change = {
        ...grant,
        viewer,
        kind: 'grant',
        delta: amount,
        maxActiveS: maxGrantedS,
      } as const;
      const [entry] = await writeChanges(queries, scope, rows, [change], nowMs);
      if (!entry) throw new Error('A grant can’t be refused.');
      const { id, type, delta, balance, version } = entry;
      return {
        id,
        kind: 'grant',
        type,
        delta,
        ...(grant.durationS === undefined ? {} : { duration_s: grant.durationS }),
        reason: grant.reason,
        balance,
        version,
        at: formatInstant(nowMs),
      };
    },
    spend: (scope, { viewer }, { id, type, amount, reason }) =>
      database.transaction(
        async (queries) => {
          const nowMs = clock.nowMs();
          // The statements are pipelined: the wallet is read after the player has been locked.
          const [, known, rows] = await Promise.all([
            lockViewers(queries, scope, [viewer], nowMs),
            findEntry(queries, scope, viewer, id),
            readHoldings(queries, scope, [viewer]),
          ]);
          if (known) return repeatSpend(known, { type, amount });
          const change = { viewer, id, kind: 'spend', type, delta: -amount, reason } as const;
          const [entry] = await writeChanges(queries, scope, rows, [change], nowMs);
          if (entry) return { spend: describeSpend(entry) };
          const balance = rows.find((row) => row.type === type)?.balance ?? 0;
          return { refusal: 'insufficient_balance', balance };
        },
        { hasLeadingReads: true, preferIndexes: true },
      ),
  };
}

const describeSpend = ({ id, type, delta, balance, version }: Entry): Spend => ({
  id,
  type,
  amount: -delta,
  balance,
  version,
});

/** Returns the result of an earlier spend with the same id, unless it was for something else. */
const repeatSpend = (
  entry: Entry,
  { type, amount }: Pick<SpendRequest, 'type' | 'amount'>,
): SpendResult =>
  entry.kind === 'spend' && entry.type === type && entry.delta === -amount
    ? { spend: describeSpend(entry) }
    : { refusal: 'id_reused' };
