import type { RewardStatus } from '../../protocol/wire.ts';
import type { RewardReport } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { createBackOff } from '../transport/back-off.ts';
import { isFinal, type Verdict } from './reward-machine.ts';
import { readReward } from '../transport/read-reward.ts';
import type { Answer, ServiceClient } from '../transport/service-client.ts';

/** A reward whose confirmation is awaited. */
export interface Awaited {
  decisionId: string;
  token: string;
}

export interface ConfirmationParts {
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  pending(): Awaited[];
  /** What the device knows about a reward. */
  report(decisionId: string): RewardReport;
  /** Applies statuses from the service. */
  settle(statuses: Verdict[]): Promise<void>;
}

/** Asks the service for what is pending, and is silent when nothing is. */
export interface Confirmation {
  /** Something is pending, or something speaks for asking now. */
  wake(): void;
  /** Polls at once; resolves when the answer is stored. */
  ask(reward: Awaited): Promise<void>;
  /** Resolves when the service has decided, or with the latest state after `withinMs`. */
  outcome(decisionId: string, withinMs: number): Promise<RewardReport>;
  /** An entry has changed: an {@link outcome} that waits for it may be known. */
  changed(): void;
  /** Something was settled: a request that waits for it can end. */
  settled(): void;
  stop(): void;
}

/** The answer to the completion usually brings the confirmation; only then do we ask. */
const headStartMs = 1_500;
const longestWaitS = 25;

/** Creates the {@link Confirmation}; it sends one request at a time, because a browser allows six connections per host. */
export function createConfirmation(parts: ConfirmationParts): Confirmation {
  /**
   * Decisions for which the service refuses an answer, for example because the key was revoked; retried after a
   * reload.
   */
  const unanswerable = new Set<string>();
  let request: { decisionId: string; abort: AbortController } | undefined;
  let stopped = false;
  /** Resolve the outcomes that have become final. */
  const checks = new Set<() => void>();
  const changed = (): void => checks.forEach((check) => check());
  const backOff = createBackOff(parts, () => {
    if (!request) void askAll();
  });

  const awaited = (): Awaited[] =>
    stopped ? [] : parts.pending().filter(({ decisionId }) => !unanswerable.has(decisionId));
  const isAwaited = (id: string): boolean => awaited().some(({ decisionId }) => decisionId === id);

  const take = async (decisionId: string, answer: Answer<RewardStatus>): Promise<void> => {
    if (answer.kind === 'ok') await parts.settle([answer.body]);
    // The service has deleted the decision and says, by its own clock, that the late window is over. So
    // neither a clock that was set, nor a revoked key, nor a network can end a reward.
    else if (answer.kind === 'refused' && answer.problem.code === 'decision_gone') {
      await parts.settle([{ id: decisionId, state: 'expired', reason: 'unknown_to_service' }]);
    }
  };

  const settled = (): void => {
    if (request && !isAwaited(request.decisionId)) request.abort.abort();
    if (awaited().length === 0) backOff.cancel();
  };

  const askAll = async (): Promise<void> => {
    let retryAfterMs: number | undefined;
    const round = awaited();
    for (const { decisionId, token } of round) {
      if (!isAwaited(decisionId)) continue;
      const abort = new AbortController();
      request = { decisionId, abort };
      // A request that waits must not keep the others from being asked.
      const waitS = round.length === 1 ? longestWaitS : 0;
      const { signal } = abort;
      const answer = await readReward(parts.client, decisionId, token, { waitS, signal });
      request = undefined;
      await take(decisionId, answer);
      if (answer.kind === 'refused') unanswerable.add(decisionId);
      else if (answer.kind === 'retry') retryAfterMs = answer.retryAfterMs;
    }
    if (awaited().length > 0) backOff.failed(retryAfterMs);
  };

  return {
    wake() {
      const waiting = awaited().length;
      backOff.succeeded();
      if (!request && waiting > 0) backOff.pause(headStartMs);
      // It waits for one reward alone; the next round asks for all of them.
      else if (waiting > 1) request?.abort.abort();
    },
    outcome: (decisionId, withinMs) =>
      new Promise((resolve) => {
        const end = (): void => {
          cancelTimer();
          checks.delete(check);
          resolve(parts.report(decisionId));
        };
        const check = (): void => {
          if (stopped || isFinal(parts.report(decisionId).state)) end();
        };
        const cancelTimer = parts.clock.after(withinMs, end);
        checks.add(check);
        check();
      }),
    changed,
    settled,
    async ask({ decisionId, token }) {
      await take(decisionId, await readReward(parts.client, decisionId, token));
    },
    stop() {
      stopped = true;
      request?.abort.abort();
      backOff.cancel();
      changed();
    },
  };
}
