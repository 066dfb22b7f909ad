import type { Decision, RewardStatus } from '../../protocol/wire.ts';
import type { RewardReport } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity, PageLifecycle } from '../platform/page.ts';
import type { Player, PlayerContext } from '../player-context.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { createConfirmation } from './confirmation.ts';
import { createDelivery, type DeliveryDeps, type RewardHandler } from './delivery.ts';
import type { Ledger } from './ledger.ts';
import {
  advance,
  isOpen,
  isDue,
  isFinal,
  isHeldFor,
  isPending,
  type LedgerEntry,
  toReport,
  transferEntry,
  type RewardEvent,
  type StatusUpdate,
} from './reward-machine.ts';

/** Stores the rewards on this device, waits for their confirmation, and delivers them to the game. */
export interface Rewards {
  /**
   * Stores a decision before its ad starts. `owner` is the player for whom it was requested; by default, the current
   * player. Does nothing for a decision without a reward.
   */
  track(
    decision: Pick<Decision, 'id' | 'placement' | 'reward' | 'token'>,
    owner?: Player,
  ): Promise<void>;
  /** Marks the reward as pending, because its ad has been watched. */
  setWatched(decisionId: string): Promise<void>;
  /** Applies reward statuses from the service. Resolves when they are stored. */
  settle(statuses: RewardStatus[]): Promise<void>;
  /** Resolves when the reward's state is final, or after `withinMs` with the latest state. */
  confirmation(decisionId: string, withinMs: number): Promise<RewardReport>;
  /**
   * Returns the status from the service, or from this device if the service can't be reached. The state is `none` for
   * another player’s reward.
   */
  status(decisionId: string): Promise<RewardReport>;
  /** Returns the player’s pending rewards, and the earned rewards that have not been delivered. */
  list(): Promise<RewardReport[]>;
  /** Sets the handler that receives earned rewards. Returns a function that removes it. */
  onReward(handler: RewardHandler): () => void;
  /**
   * Switches to another player. Deliveries in progress run to completion. All other rewards are held for their own
   * players. If `transferFrom` is given, that player’s rewards are transferred as soon as the new player is identified.
   */
  setPlayer(transferFrom: string | undefined): Promise<void>;
  /**
   * Reads the ledger again. Call it after other code has written to the ledger, or when the player has been identified.
   */
  refresh(): Promise<void>;
  /** Returns how many earned rewards have waited for a minute, because the game doesn’t take them. */
  countWaiting(): number;
  diagnostics(): RewardDiagnostics;
  destroy(): void;
}

export interface RewardDiagnostics {
  /**
   * `memory` while the browser’s database is unavailable. In that case, pending rewards are lost when the page closes.
   */
  storage: 'indexeddb' | 'memory';
  pending: number;
  undelivered: number;
  /** Number of failed handler calls. */
  handlerErrors: number;
  lastError?: string;
}

export interface RewardsDeps {
  client: ServiceClient;
  ledger: Ledger;
  clock: Clock;
  random: () => number;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  player: Pick<PlayerContext, 'player' | 'identify'>;
  /** Calls `callback` in the engine’s next frame. Returns a function that cancels the call. */
  deliver(callback: () => void): () => void;
  /** See {@link DeliveryDeps.presence}. */
  presence?: DeliveryDeps['presence'];
}

/** How long entries are kept for support requests, in milliseconds. The longest late window is 7 days. */
const retentionMs = 30 * 86_400_000;
/** How long a reward may take to reach the game until it counts as waiting, in milliseconds. */
const waitingAfterMs = 60_000;

/** Creates the {@link Rewards} for this device, and resumes rewards that an earlier page load left unfinished. */
export function createRewards(deps: RewardsDeps): Rewards {
  const { clock, ledger, lifecycle, player } = deps;
  let handler: RewardHandler | undefined;
  let handlerErrors = 0;
  let lastError: string | undefined;
  let destroyed = false;
  /** The player whose rewards will be transferred when the current player has been identified. */
  let transferFrom: string | undefined;

  /** Rewards whose players have not been identified yet. They are not delivered until then. */
  const unassigned = new Map<string, Player>();

  const find = (decisionId: string) =>
    ledger.cached().find((entry) => entry.decisionId === decisionId);
  const report = (decisionId: string): RewardReport => {
    const entry = find(decisionId);
    return entry ? toReport(entry) : { decisionId, state: 'none' };
  };
  /** Whether the entry may be delivered to the current player. Other players' entries are kept up to date too. */
  const isForCurrentPlayer = (entry: LedgerEntry): boolean =>
    !unassigned.has(entry.decisionId) && isHeldFor(entry, player.player().ref);
  const getPlayerEntries = () => ledger.cached().filter(isForCurrentPlayer);
  const pending = () => getPlayerEntries().filter(isPending);

  const change = async (decisionId: string, event: RewardEvent): Promise<void> => {
    const previousState = find(decisionId)?.state;
    const entry = await ledger.change(decisionId, (current) => advance(current, event));
    if (!entry) return;
    confirmation.refresh();
    if (entry.state === 'pending' && previousState !== 'pending') confirmation.wake();
    delivery.wake();
  };
  const settle = async (statuses: StatusUpdate[]): Promise<void> => {
    for (const status of statuses) {
      const entry = find(status.id);
      // An unknown decision may be from another tab, in which case it is in the database.
      if (entry ? !isFinal(entry.state) : status.state !== 'none')
        await change(status.id, { type: 'status', status, at: clock.now() });
    }
    confirmation.prune();
  };
  const confirmation = createConfirmation({ ...deps, pending, report, settle });
  const delivery = createDelivery({
    ...deps,
    handler: () => handler,
    isDue: (entry) => isDue(entry) && isForCurrentPlayer(entry),
    onError(error) {
      handlerErrors += 1;
      lastError = String(error);
    },
  });
  const resume = (): void => {
    confirmation.wake();
    delivery.retry();
  };

  /** Reads the ledger again when the player returns, because other tabs also write to it. */
  const reload = async (): Promise<void> => {
    await ledger.readAll();
    if (destroyed) return;
    if (ledger.cached().some(isOpen)) player.identify();
    await assignOwners();
    resume();
  };
  /** Assigns rewards to players who have since been identified, and transfers rewards to the current player. */
  const assignOwners = async (): Promise<void> => {
    for (const [decisionId, { ref }] of unassigned) {
      if (ref === undefined) continue;
      const assign = (entry: LedgerEntry) => ({ ...entry, earnedBy: ref, heldFor: ref });
      // If the entry is still being added, the next call assigns it.
      if (await ledger.change(decisionId, assign)) unassigned.delete(decisionId);
    }
    const oldRef = transferFrom;
    const newRef = player.player().ref;
    if (oldRef === undefined || newRef === undefined) return;
    for (const entry of ledger.cached()) {
      // Other tabs may be changing the entry too, so the transfer is applied to its latest version.
      if (transferEntry(entry, oldRef, newRef) !== entry)
        await ledger.change(entry.decisionId, (current) => transferEntry(current, oldRef, newRef));
    }
    if (transferFrom === oldRef) transferFrom = undefined;
  };
  const removeOldEntries = async (): Promise<void> => {
    const cutoff = clock.now() - retentionMs;
    const old = ledger.cached().filter((entry) => !isOpen(entry) && entry.trackedAt < cutoff);
    if (old.length > 0) await ledger.remove(old.map(({ decisionId }) => decisionId));
  };
  const refresh = (): Promise<void> => (loading = reload());
  let loading = reload();
  void loading.then(removeOldEntries);
  const disposers = [
    deps.connectivity.onOnline(resume),
    lifecycle.onTransition((pageTransition) => {
      if (pageTransition === 'visible' || pageTransition === 'returned') void refresh();
      else delivery.releaseClaims();
    }),
  ];

  return {
    async track(decision, owner = player.player()) {
      if (!decision.reward || decision.token === undefined) return;
      const { ref } = owner;
      if (ref === undefined) {
        unassigned.set(decision.id, owner);
        player.identify();
      }
      await ledger.add({
        v: 1,
        decisionId: decision.id,
        token: decision.token,
        placement: decision.placement,
        state: 'none',
        reward: decision.reward,
        earnedBy: ref,
        heldFor: ref,
        trackedAt: clock.now(),
        delivered: false,
      });
      // The player was identified while the entry was being added.
      if (ref !== owner.ref) void refresh();
    },
    async setWatched(decisionId) {
      if (find(decisionId)) await change(decisionId, { type: 'watched' });
    },
    async settle(statuses) {
      // The outbox may send events from an earlier page load, and receive their rewards, before the ledger has been
      // read.
      await loading;
      await settle(statuses);
    },
    confirmation: confirmation.outcome,
    async status(decisionId) {
      await loading;
      const entry = find(decisionId);
      if (entry && !isForCurrentPlayer(entry)) return { decisionId, state: 'none' };
      if (entry && !isFinal(entry.state)) await confirmation.poll(entry);
      return report(decisionId);
    },
    async list() {
      await ledger.readAll();
      return getPlayerEntries().filter(isOpen).map(toReport);
    },
    setPlayer(oldRef) {
      transferFrom = oldRef;
      delivery.releaseClaims();
      confirmation.prune();
      return refresh();
    },
    refresh,
    onReward(next) {
      handler = next;
      delivery.wake();
      return () => {
        if (handler === next) handler = undefined;
      };
    },
    countWaiting() {
      const latest = clock.now() - waitingAfterMs;
      return getPlayerEntries().filter(
        // The service has credited what belongs in the wallet.
        (entry) =>
          isDue(entry) && entry.reward.credit !== 'wallet' && (entry.earnedAt ?? 0) < latest,
      ).length;
    },
    diagnostics: () => ({
      pending: pending().length,
      undelivered: getPlayerEntries().filter(isDue).length,
      handlerErrors,
      ...(lastError !== undefined && { lastError }),
      ...ledger.health(),
    }),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const dispose of disposers) dispose();
      confirmation.stop();
      delivery.stop();
      ledger.close();
    },
  };
}
