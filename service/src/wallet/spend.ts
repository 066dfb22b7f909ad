import type { Spend, SpendRequest } from '@trueward/protocol/wire';
import type { Clock } from '../platform/time.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { Database, Queries, Scope } from '../store/database.ts';
import { type Lane, retryLockTimeoutMs } from '../store/group-commit.ts';
import { createScopedLanes, type LaneDeps } from '../store/lanes.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import { draftChanges } from './draft-changes.ts';
import { draftWalletEvent } from './draft-events.ts';
import type { Entry } from './wallet.ts';
import { findSpends, readHoldings, storeDraft } from './wallet-store.ts';

/** A player whose identity is proven. */
export interface WalletOwner {
  playerRef: string;
  /** The player's pseudonym. */
  viewer: string;
}

/** A spend that a player asks for. */
interface AskedSpend {
  scope: Scope;
  owner: WalletOwner;
  request: SpendRequest;
}

/** A spend, or why it was refused. */
export type SpendResult = { spend: Spend } | { refusal: 'insufficient_balance'; balance: number };

interface Deps {
  database: Database;
  clock: Pick<Clock, 'nowMs'>;
  writeEvents: WriteEvents;
  lanes: LaneDeps;
  /** Called after a commit if webhook deliveries were queued. */
  onDeliveries(): void;
}

/** Creates lanes, each of which group-commits the spends of one account and environment. */
export function createSpendLanes(deps: Deps): Lane<AskedSpend, SpendResult> {
  const { database } = deps;
  return createScopedLanes(deps.lanes, {
    async commit(spends, { isRetry }) {
      const { results, hasDeliveries } = await database.transaction(
        (queries) => spendAll(queries, deps, spends),
        {
          ...(isRetry && { lockTimeoutMs: retryLockTimeoutMs }),
          hasLeadingReads: true,
          preferIndexes: true,
        },
      );
      if (hasDeliveries) deps.onDeliveries();
      return results;
    },
    gatherMs: database.gatherMs,
  });
}

/** Charges the spends of one account and environment in order, each id of a player once. */
async function spendAll(
  queries: Queries,
  { clock, writeEvents }: Deps,
  spends: readonly AskedSpend[],
): Promise<{ results: SpendResult[]; hasDeliveries: boolean }> {
  const [first] = spends;
  if (!first) return { results: [], hasDeliveries: false };
  const { scope } = first;
  const nowMs = clock.nowMs();
  const viewers = [...new Set(spends.map(({ owner }) => owner.viewer))];
  const ids = spends.map(({ owner, request }) => ({ viewer: owner.viewer, id: request.id }));
  // The statements are pipelined: the wallets are read after the players have been locked.
  const [, known, rows] = await Promise.all([
    lockViewers(queries, scope, viewers, nowMs),
    findSpends(queries, scope, ids),
    readHoldings(queries, scope, viewers),
  ]);
  const toKey = (viewer: string, id: string): string => `${viewer} ${id}`;
  const charged = new Map<string, Entry>(
    known.map((entry) => [toKey(entry.viewer, entry.id), entry]),
  );
  const draft = draftChanges(rows, nowMs);
  const playerRefs = new Map(spends.map(({ owner }) => [owner.viewer, owner.playerRef]));
  const results = spends.map(({ owner: { viewer }, request }): SpendResult => {
    const { id, type, amount, reason } = request;
    const key = toKey(viewer, id);
    const entry =
      charged.get(key) ?? draft.apply({ viewer, id, kind: 'spend', type, delta: -amount, reason });
    if (!entry) return { refusal: 'insufficient_balance', balance: draft.balance(viewer, type) };
    charged.set(key, entry);
    return { spend: describeSpend(entry) };
  });
  const events = draft
    .entries()
    .map(({ viewer, ...entry }) =>
      draftWalletEvent({ viewer, playerRef: playerRefs.get(viewer) ?? '', entry }),
    );
  const [hasDeliveries] = await Promise.all([
    writeEvents(queries, scope, events),
    storeDraft(queries, scope, draft, nowMs),
  ]);
  return { results, hasDeliveries };
}

const describeSpend = ({ id, type, delta, balance, version }: Entry): Spend => ({
  id,
  type,
  amount: -delta,
  balance,
  version,
});
