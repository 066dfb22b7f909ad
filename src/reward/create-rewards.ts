import type { RewardStatus } from '../../protocol/wire.ts';
import type { RewardReport } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity } from '../platform/connectivity.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { createConfirmation } from './confirmation.ts';
import { createDelivery } from './delivery.ts';
import type { Ledger } from './ledger.ts';
import {
  advance,
  isAwaited,
  isDue,
  isFinal,
  reportOf,
  type RewardEvent,
} from './reward-machine.ts';
import type { Rewards } from './rewards.ts';

export interface RewardsParts {
  client: ServiceClient;
  ledger: Ledger;
  clock: Clock;
  random: () => number;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  /** Calls back once, when the engine runs game code. */
  deliver(callback: () => void): void;
}

/** Makes the device's side of rewards, and takes up what an earlier page left. */
export function createRewards(parts: RewardsParts): Rewards {
  const { clock, ledger, lifecycle } = parts;
  /** Look whether what they wait for is final. */
  const waiting = new Set<() => void>();
  let handlerErrors = 0;
  let lastError: string | undefined;
  let destroyed = false;

  const find = (decisionId: string) =>
    ledger.seen().find((entry) => entry.decisionId === decisionId);
  const report = (decisionId: string): RewardReport => {
    const entry = find(decisionId);
    return entry ? reportOf(entry) : { decisionId, state: 'none' };
  };
  const pending = () => ledger.seen().filter(({ state }) => state === 'pending');

  const change = async (decisionId: string, event: RewardEvent): Promise<void> => {
    const before = find(decisionId)?.state;
    const entry = await ledger.change(decisionId, (now) => advance(now, event));
    if (!entry || destroyed) return;
    for (const look of waiting) look();
    if (entry.state === 'pending' && before !== 'pending') confirmation.wake();
    delivery.wake();
  };
  const settle = async (statuses: RewardStatus[]): Promise<void> => {
    for (const status of statuses) {
      const known = find(status.id);
      // Another tab may have tracked it, and be gone: the database knows.
      if (known ? !isFinal(known.state) : status.state !== 'none')
        await change(status.id, { type: 'status', status, at: clock.now() });
    }
    confirmation.settled();
  };

  const confirmation = createConfirmation({
    ...parts,
    pending,
    onStatus: (status) => settle([status]),
  });
  const delivery = createDelivery({
    ...parts,
    onError(error) {
      handlerErrors += 1;
      lastError = String(error);
    },
  });

  /** Other tabs write into the ledger too, so it is read again whenever the player comes back. */
  const loaded = async (): Promise<void> => {
    await ledger.all();
    if (destroyed) return;
    confirmation.wake();
    delivery.retry();
  };
  let loading = loaded();
  const endings = [
    parts.connectivity.onOnline(() => confirmation.wake()),
    lifecycle.onMoment((moment) => {
      if (moment === 'visible' || moment === 'returned') loading = loaded();
      else delivery.yieldToOthers();
    }),
  ];

  return {
    async track(decision) {
      if (!decision.reward || decision.token === undefined) return;
      await ledger.add({
        v: 1,
        decisionId: decision.id,
        token: decision.token,
        placement: decision.placement,
        state: 'none',
        reward: decision.reward,
        trackedAt: clock.now(),
        delivered: false,
      });
    },
    async watched(decisionId) {
      if (find(decisionId)) await change(decisionId, { type: 'watched' });
    },
    async settle(statuses) {
      // The outbox may hear of a decision of an earlier page before the ledger was read.
      await loading;
      await settle(statuses);
    },
    confirmation: (decisionId, withinMs) =>
      new Promise((resolve) => {
        const end = (): void => {
          cancelTimer();
          waiting.delete(look);
          resolve(report(decisionId));
        };
        const look = (): void => {
          if (destroyed || isFinal(report(decisionId).state)) end();
        };
        const cancelTimer = clock.after(withinMs, end);
        waiting.add(look);
        look();
      }),
    async status(decisionId) {
      await loading;
      const entry = find(decisionId);
      if (entry && !isFinal(entry.state) && !destroyed) {
        const answer = await parts.client.readReward(decisionId, entry.token);
        if (answer.kind === 'ok') await settle([answer.body]);
      }
      return report(decisionId);
    },
    async list() {
      const entries = await ledger.all();
      return entries.filter(isAwaited).map(reportOf);
    },
    onReward: (handler) => delivery.add(handler),
    diagnostics: () => ({
      pending: pending().length,
      undelivered: ledger.seen().filter(isDue).length,
      handlerErrors,
      ...(lastError !== undefined && { lastError }),
      ...ledger.health(),
    }),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const end of endings) end();
      confirmation.stop();
      delivery.stop();
      for (const look of waiting) look();
      ledger.close();
    },
  };
}
