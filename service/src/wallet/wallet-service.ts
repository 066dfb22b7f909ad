import type { SpendRequest, Wallet, WalletEntry } from '@trueward/protocol/wire';
import { errorsWhere, throwFieldErrors } from '../platform/domain-error.ts';
import type { MakeId } from '../platform/ids.ts';
import { formatInstant, type Clock } from '../platform/time.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { Database, Queries, Scope } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import type { LaneDeps } from '../store/lanes.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import { draftWalletEvent } from './draft-events.ts';
import { createSpendLanes, type SpendResult, type WalletOwner } from './spend.ts';
import { transferWallet, type TransferResult } from './transfer.ts';
import { type Entry, maxBalance, maxGrantedS, readVersion } from './wallet.ts';
import { readHoldings, writeChanges } from './wallet-store.ts';

/** Reads and changes wallets. */
export interface WalletService {
  read(scope: Scope, owner: WalletOwner): Promise<Wallet>;
  /** Resolves to whether the player has a timed reward of one of these types now. */
  hasActive(scope: Scope, viewer: string, types: readonly string[]): Promise<boolean>;
  /** Spends once per id: a retry returns the first result, also if the price has changed since. */
  spend(scope: Scope, owner: WalletOwner, request: SpendRequest): Promise<SpendResult>;
  /** Gives a player something, in the operation's transaction. */
  grant(queries: Queries, scope: Scope, owner: WalletOwner, grant: Grant): Promise<WalletEntry>;
  /** Moves a guest's wallet to a player who has signed in. A retry moves only what has been credited since. */
  transfer(
    scope: Scope,
    from: WalletOwner,
    to: WalletOwner,
  ): Promise<Wallet | Extract<TransferResult, { refusal: unknown }>>;
}

/** What an operator gives. It has an amount or a time. */
export interface Grant {
  id: string;
  type: string;
  amount: number | undefined;
  durationS: number | undefined;
  reason: string;
}

/**
 * A grant is given in full or not at all: its sender would not learn of the rest, and budgets would count it.
 *
 * @throws DomainError when less than the grant was credited.
 */
function refusePart(grant: { amount: number; durationS: number | undefined }, entry: Entry): void {
  const [amount, seconds] = [entry.delta, entry.durationS ?? 0];
  throwFieldErrors(
    errorsWhere(
      [
        amount < grant.amount,
        '/amount',
        `must be at most ${amount}, because a balance can’t exceed ${maxBalance}; got ${grant.amount}`,
      ],
      [
        seconds < (grant.durationS ?? 0),
        '/duration_s',
        `must be at most ${seconds}, because a grant can’t extend time beyond ${maxGrantedS} seconds from now; got ${grant.durationS}`,
      ],
    ),
  );
}

interface Deps {
  database: Database;
  clock: Clock;
  makeId: MakeId;
  writeEvents: WriteEvents;
  lanes: LaneDeps;
  /** Called after a commit if webhook deliveries were queued. */
  onDeliveries(): void;
}

export function createWalletService(deps: Deps): WalletService & {
  /** The lane of spends. */
  lane: Pick<Lane<never, unknown>, 'waiting' | 'drain'>;
} {
  const { database, clock, makeId, writeEvents } = deps;
  const spends = createSpendLanes(deps);
  /** Writes the event of an entry. Resolves to whether there are deliveries. */
  const announce = (
    queries: Queries,
    scope: Scope,
    { playerRef, viewer }: WalletOwner,
    entry: Entry,
    from?: string,
  ): Promise<boolean> =>
    writeEvents(queries, scope, [
      draftWalletEvent({ viewer, playerRef, entry, ...(from === undefined ? {} : { from }) }),
    ]);
  /** Runs `work` in a transaction, which says whether there are deliveries. */
  const change = async <T>(
    work: (queries: Queries) => Promise<[result: T, hasDeliveries: boolean]>,
  ): Promise<T> => {
    const [result, hasDeliveries] = await database.transaction(work, {
      hasLeadingReads: true,
      preferIndexes: true,
    });
    if (hasDeliveries) deps.onDeliveries();
    return result;
  };
  const read: WalletService['read'] = async (scope, { playerRef, viewer }) => {
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
  };
  return {
    lane: spends,
    read,
    async hasActive(scope, viewer, types) {
      const nowMs = clock.nowMs();
      const rows = await readHoldings(database, scope, [viewer]);
      return rows.some(
        ({ type, activeUntilMs }) =>
          activeUntilMs !== null && activeUntilMs > nowMs && types.includes(type),
      );
    },
    async grant(queries, scope, owner, { amount = 0, ...grant }) {
      const { viewer } = owner;
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
      refusePart({ amount, ...grant }, entry);
      await announce(queries, scope, owner, entry);
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
    spend: (scope, owner, request) => spends.push({ scope, owner, request }),
    async transfer(scope, from, to) {
      const result = await change<TransferResult>(async (queries) => {
        const viewers = { from: from.viewer, to: to.viewer };
        const moved = await transferWallet(queries, scope, makeId, viewers, clock.nowMs());
        if ('refusal' in moved) return [moved, false];
        const stored = await Promise.all(
          moved.entries.map((entry) => announce(queries, scope, to, entry, from.playerRef)),
        );
        return [moved, stored.includes(true)];
      });
      return 'refusal' in result ? result : read(scope, to);
    },
  };
}
