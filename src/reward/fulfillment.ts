import type { RewardStatus } from '../../protocol/wire.ts';
import type { RewardReport } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Player } from '../player-context.ts';
import { createBackOff } from '../transport/back-off.ts';
import { readReward } from '../transport/read-reward.ts';
import type { ServiceResult, ServiceClient } from '../transport/service-client.ts';
import { createDelivery, type Delivery, type DeliveryDeps } from './delivery.ts';
import { isOpen, isFinal, type LedgerEntry, type StatusUpdate } from './reward-machine.ts';

/** Confirms and delivers rewards. */
export interface Fulfillment {
  confirmation: Confirmation;
  delivery: Delivery;
  /** Assigns rewards to players who have since been identified, and removes these rewards from `unassigned`. */
  assign(unassigned: Map<string, Player>): Promise<void>;
  /** Transfers one player’s undelivered rewards to another player. */
  transfer(oldRef: string, newRef: string): Promise<void>;
}

/**
 * Returns the entry, transferred to `newRef` if it is held for `oldRef` and its reward can still be delivered. Entries
 * in state `none` are included, because their ads may still be on the screen.
 */
export const transferEntry = (entry: LedgerEntry, oldRef: string, newRef: string): LedgerEntry =>
  entry.heldFor === oldRef && (entry.state === 'none' || isOpen(entry))
    ? { ...entry, heldFor: newRef }
    : entry;

/** How long entries are kept for support requests, in milliseconds. The longest late window is 7 days. */
const retentionMs = 30 * 86_400_000;

/** Starts polling for pending rewards and delivering earned ones, and removes old entries. */
export function fulfillRewards(deps: ConfirmationDeps & DeliveryDeps): Fulfillment {
  const { ledger } = deps;
  void removeOldEntries(deps);
  const confirmation = createConfirmation(deps);
  const delivery = createDelivery(deps);
  confirmation.wake();
  delivery.wake();
  return {
    confirmation,
    delivery,
    async assign(unassigned) {
      for (const [decisionId, { ref }] of unassigned) {
        if (ref === undefined) continue;
        const assignOwner = (entry: LedgerEntry) => ({ ...entry, earnedBy: ref, heldFor: ref });
        // If the entry is still being added, the next call assigns it.
        if (await ledger.change(decisionId, assignOwner)) unassigned.delete(decisionId);
      }
    },
    async transfer(oldRef, newRef) {
      for (const entry of ledger.cached()) {
        // Other tabs may be changing the entry too, so apply the transfer to its latest version.
        if (transferEntry(entry, oldRef, newRef) !== entry)
          await ledger.change(entry.decisionId, (current) =>
            transferEntry(current, oldRef, newRef),
          );
      }
    },
  };
}

async function removeOldEntries({ clock, ledger }: DeliveryDeps): Promise<void> {
  const cutoff = clock.now() - retentionMs;
  const entries = await ledger.readAll();
  const oldEntries = entries.filter((entry) => !isOpen(entry) && entry.trackedAt < cutoff);
  if (oldEntries.length > 0) await ledger.remove(oldEntries.map(({ decisionId }) => decisionId));
}

/** A reward whose confirmation is pending. */
export interface PendingReward {
  decisionId: string;
  token: string;
}

export interface ConfirmationDeps {
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  pending(): PendingReward[];
  /** Returns a reward's state, as far as this device knows it. */
  report(decisionId: string): RewardReport;
  /** Applies reward statuses from the service. */
  settle(statuses: StatusUpdate[]): Promise<void>;
}

/** Polls the service for pending rewards. Sends nothing while there are none. */
export interface Confirmation {
  /** Schedules a poll. Call it when a reward has become pending or the service may be reachable again. */
  wake(): void;
  /** Polls immediately. Resolves when the response is stored. */
  poll(reward: PendingReward): Promise<void>;
  /** Resolves when the reward's state is final, or after `withinMs` with the latest state. */
  outcome(decisionId: string, withinMs: number): Promise<RewardReport>;
  /** Resolves every {@link outcome} that has become final. Call it after the ledger has changed. */
  refresh(): void;
  /** Stops polling for rewards that are no longer pending. Call it after rewards have been settled. */
  prune(): void;
  stop(): void;
}

/**
 * Delay before the first poll, in milliseconds. Usually, the response to the completion event contains the
 * confirmation, and no poll is needed.
 */
const firstPollDelayMs = 1_500;
/** How long the service may hold the response to a poll, in seconds. */
const maxWaitS = 25;

/**
 * Creates the {@link Confirmation}. It sends one request at a time, because browsers allow only six connections per
 * host.
 */
function createConfirmation(deps: ConfirmationDeps): Confirmation {
  /**
   * Decisions for which the service rejected a request, for example because the key was revoked. They are not polled
   * again until the page is reloaded.
   */
  const rejectedIds = new Set<string>();
  let request: { decisionId: string; abort: AbortController } | undefined;
  let stopped = false;
  /** One check per unresolved {@link Confirmation.outcome} call. */
  const checks = new Set<() => void>();
  const refresh = (): void => checks.forEach((check) => check());
  const backOff = createBackOff(deps, () => {
    if (!request) void pollAll();
  });

  const pending = (): PendingReward[] =>
    stopped ? [] : deps.pending().filter(({ decisionId }) => !rejectedIds.has(decisionId));
  const isStillPending = (id: string): boolean =>
    pending().some(({ decisionId }) => decisionId === id);

  const apply = async (
    decisionId: string,
    response: ServiceResult<RewardStatus>,
  ): Promise<void> => {
    if (response.kind === 'ok') await deps.settle([response.body]);
    // The service has deleted the decision, so the late window is over. A reward must not expire for any other reason,
    // such as a wrong device clock, a revoked key or a network failure.
    else if (response.kind === 'refused' && response.problem.code === 'decision_gone') {
      await deps.settle([{ id: decisionId, state: 'expired', reason: 'unknown_to_service' }]);
    }
  };

  const prune = (): void => {
    if (request && !isStillPending(request.decisionId)) request.abort.abort();
    if (pending().length === 0) backOff.cancel();
  };

  const pollAll = async (): Promise<void> => {
    let retryAfterMs: number | undefined;
    const pendingRewards = pending();
    for (const { decisionId, token } of pendingRewards) {
      if (!isStillPending(decisionId)) continue;
      const abort = new AbortController();
      request = { decisionId, abort };
      // A long poll for one reward would delay polling for the others.
      const waitS = pendingRewards.length === 1 ? maxWaitS : 0;
      const { signal } = abort;
      const response = await readReward(deps.client, decisionId, token, { waitS, signal });
      request = undefined;
      await apply(decisionId, response);
      if (response.kind === 'refused') rejectedIds.add(decisionId);
      else if (response.kind === 'retry') retryAfterMs = response.retryAfterMs;
    }
    if (pending().length > 0) backOff.fail(retryAfterMs);
  };

  return {
    wake() {
      const count = pending().length;
      backOff.reset();
      if (!request && count > 0) backOff.pause(firstPollDelayMs);
      // A long poll waits for only one reward, so abort it. The next round polls for all rewards.
      else if (count > 1) request?.abort.abort();
    },
    outcome: (decisionId, withinMs) =>
      new Promise((resolve) => {
        const finish = (): void => {
          cancelTimer();
          checks.delete(check);
          resolve(deps.report(decisionId));
        };
        const check = (): void => {
          if (stopped || isFinal(deps.report(decisionId).state)) finish();
        };
        const cancelTimer = deps.clock.after(withinMs, finish);
        checks.add(check);
        check();
      }),
    refresh,
    prune,
    async poll({ decisionId, token }) {
      await apply(decisionId, await readReward(deps.client, decisionId, token));
    },
    stop() {
      stopped = true;
      request?.abort.abort();
      backOff.cancel();
      refresh();
    },
  };
}
