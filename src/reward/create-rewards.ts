import type { RewardReport } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity } from '../platform/connectivity.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import type { Ledger } from './ledger.ts';
import {
  advance,
  isAwaited,
  isDue,
  isFinal,
  isFor,
  isPending,
  type LedgerEntry,
  reportOf,
  type RewardEvent,
  type Verdict,
} from './reward-machine.ts';
import type { Pursuit } from './pursue-rewards.ts';
import type { RewardHandler, Rewards } from './rewards.ts';

export interface RewardsParts {
  client: ServiceClient;
  ledger: Ledger;
  clock: Clock;
  random: () => number;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  player: {
    /** The game's own id of the current player, `''` without one; undefined while unknown. */
    playerRef(): string | undefined;
    /** Identifies the player, because there is a reward to deliver. */
    identify(): void;
  };
  /** Calls back once, when the engine runs game code. */
  deliver(callback: () => void): void;
}

/** Makes the device's side of rewards, and takes up what an earlier page left. */
export function createRewards(parts: RewardsParts): Rewards {
  const { clock, ledger, lifecycle, player } = parts;
  /** Look whether what they wait for is final. */
  const waiting = new Set<() => void>();
  const handlers = new Set<RewardHandler>();
  let handlerErrors = 0;
  let lastError: string | undefined;
  let destroyed = false;
  /** The player whose rewards go to the current player as soon as that one is identified. */
  let transferFrom: string | undefined;

  const find = (decisionId: string) =>
    ledger.seen().find((entry) => entry.decisionId === decisionId);
  const report = (decisionId: string): RewardReport => {
    const entry = find(decisionId);
    return entry ? reportOf(entry) : { decisionId, state: 'none' };
  };
  /** Whether it may be delivered to the current player. Entries of other players are kept up to date too. */
  const isOurs = (entry: LedgerEntry): boolean => isFor(entry, player.playerRef());
  const ours = () => ledger.seen().filter(isOurs);
  const pending = () => ours().filter(isPending);

  const change = async (decisionId: string, event: RewardEvent): Promise<void> => {
    const before = find(decisionId)?.state;
    const entry = await ledger.change(decisionId, (now) => advance(now, event));
    if (!entry || destroyed) return;
    for (const look of waiting) look();
    if (entry.state === 'pending' && before !== 'pending') pursuit?.confirmation.wake();
    wake();
  };
  const settle = async (statuses: Verdict[]): Promise<void> => {
    for (const status of statuses) {
      const known = find(status.id);
      // Another tab may have tracked it, and be gone: the database knows.
      if (known ? !isFinal(known.state) : status.state !== 'none')
        await change(status.id, { type: 'status', status, at: clock.now() });
    }
    pursuit?.confirmation.settled();
  };
  let pursuit: Pursuit | undefined;
  /** Loads the code that asks and hands over; where that fails, the next reason to tries again. */
  const load = (): Promise<void> =>
    import('./pursue-rewards.ts').then(
      ({ pursueRewards }) => {
        if (!destroyed) pursuit ??= pursueRewards(pursuitParts);
      },
      () => undefined,
    );
  const pursuitParts = {
    ...parts,
    pending,
    settle,
    handlers,
    isDue: (entry: LedgerEntry) => isDue(entry) && isOurs(entry),
    onError(error: unknown) {
      handlerErrors += 1;
      lastError = String(error);
    },
  };
  const wake = (): void => {
    if (pursuit) pursuit.delivery.wake();
    else if (ours().some(isAwaited)) void load();
  };
  const resume = (): void => {
    pursuit?.confirmation.wake();
    pursuit?.delivery.retry();
    wake();
  };

  /** Other tabs write into the ledger too, so it is read again whenever the player comes back. */
  const loaded = async (): Promise<void> => {
    await ledger.all();
    if (destroyed) return;
    if (ledger.seen().some(isAwaited)) player.identify();
    await transfer();
    resume();
  };
  const transfer = async (): Promise<void> => {
    const from = transferFrom;
    const to = player.playerRef();
    if (from === undefined || to === undefined) return;
    await import('./transfer-rewards.ts').then(
      async ({ transferRewards }) => {
        await transferRewards(ledger, from, to);
        if (transferFrom === from) transferFrom = undefined;
      },
      // If the code cannot be loaded, they stay in the ledger until the player returns.
      () => undefined,
    );
  };
  const refresh = (): Promise<void> => (loading = loaded());
  let loading = loaded();
  const endings = [
    parts.connectivity.onOnline(resume),
    lifecycle.onMoment((moment) => {
      if (moment === 'visible' || moment === 'returned') void refresh();
      else pursuit?.delivery.yieldToOthers();
    }),
  ];

  return {
    async track(decision, playerRef) {
      if (!decision.reward || decision.token === undefined) return;
      // It is needed at the end of the ad.
      if (!pursuit) void load();
      await ledger.add({
        v: 1,
        decisionId: decision.id,
        token: decision.token,
        placement: decision.placement,
        state: 'none',
        reward: decision.reward,
        earnedBy: playerRef ?? player.playerRef(),
        heldFor: playerRef ?? player.playerRef(),
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
      if (entry && !isOurs(entry)) return { decisionId, state: 'none' };
      if (entry && !isFinal(entry.state) && !destroyed) {
        if (!pursuit) await load();
        await pursuit?.confirmation.ask(entry);
      }
      return report(decisionId);
    },
    async list() {
      await ledger.all();
      return ours().filter(isAwaited).map(reportOf);
    },
    playerChanged(from) {
      transferFrom = from;
      pursuit?.delivery.yieldToOthers();
      pursuit?.confirmation.settled();
      return refresh();
    },
    refresh,
    prefetch: () => void load(),
    onReward(handler) {
      handlers.add(handler);
      wake();
      return () => handlers.delete(handler);
    },
    diagnostics: () => ({
      pending: pending().length,
      undelivered: ours().filter(isDue).length,
      handlerErrors,
      ...(lastError !== undefined && { lastError }),
      ...ledger.health(),
    }),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const end of endings) end();
      pursuit?.confirmation.stop();
      pursuit?.delivery.stop();
      for (const look of waiting) look();
      ledger.close();
    },
  };
}
