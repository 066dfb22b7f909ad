import type { RewardStatus } from '../../protocol/wire.ts';
import type { RewardReport } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { createBackOff } from '../transport/back-off.ts';
import { readReward } from '../transport/read-reward.ts';
import type { ServiceResult, ServiceClient } from '../transport/service-client.ts';
import { isFinal, type StatusUpdate } from './reward-machine.ts';
import { native } from '../platform/native.ts';

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
export function createConfirmation(deps: ConfirmationDeps): Confirmation {
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
      const abort = new native.AbortController();
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
      if (!request && count > 0)
        backOff.pause({ ms: firstPollDelayMs, failures: 0, demanded: false });
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
      if (!stopped) await apply(decisionId, await readReward(deps.client, decisionId, token));
    },
    stop() {
      stopped = true;
      request?.abort.abort();
      backOff.cancel();
      refresh();
    },
  };
}
