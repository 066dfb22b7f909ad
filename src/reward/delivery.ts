import type { EarnedReward } from '../outcome.ts';
import { runWithTimeout, type Clock, createDeadline } from '../platform/clock.ts';
import type { Presence } from '../platform/locks.ts';
import type { PageLifecycle } from '../platform/page.ts';
import { type BackOff, createBackOff } from '../transport/back-off.ts';
import type { Ledger } from './ledger.ts';
import { advance, claimMs, type LedgerEntry, type RewardEvent } from './reward-machine.ts';
import { native } from '../platform/native.ts';

/**
 * Called with every earned reward. The reward counts as delivered when the handler has returned or its promise has
 * resolved.
 */
export type RewardHandler = (reward: EarnedReward) => void | Promise<void>;

export interface DeliveryDeps {
  ledger: Ledger;
  clock: Clock;
  random: () => number;
  /** Returns the game's handler. Undefined while there is none. */
  handler(): RewardHandler | undefined;
  /** Whether the entry may be delivered to the current player. */
  isDue(entry: LedgerEntry): boolean;
  /** Calls `callback` in the engine’s next frame. Returns a function that cancels the call. */
  deliver(callback: () => void): () => void;
  lifecycle: Pick<PageLifecycle, 'isVisible'>;
  /** Ends a tab's claims with the tab. Without it, they end by time only. */
  presence?: Presence | undefined;
  onError(error: unknown): void;
}

/**
 * Delivers earned rewards to the game's handler, in order. A failed or hanging call delays only its own reward. A claim
 * in the ledger prevents two tabs from delivering the same reward.
 */
export interface Delivery {
  /** Delivers the rewards that are due. */
  wake(): void;
  /** Immediately retries rewards that failed or that other tabs have claimed. */
  retry(): void;
  /**
   * Releases the claims on rewards that are waiting for a frame. Call it when the player changes or the page becomes
   * hidden. A hidden page gets no animation frames, but another tab may be able to deliver the rewards.
   */
  releaseClaims(): void;
  stop(): void;
}

const compareByEarnedAt = (a: LedgerEntry, b: LedgerEntry): number =>
  (a.earnedAt ?? 0) - (b.earnedAt ?? 0) || (a.decisionId < b.decisionId ? -1 : 1);

const toEarnedReward = ({
  decisionId,
  placement,
  reward,
  receipt,
  evidence,
  earnedBy,
}: LedgerEntry): EarnedReward => ({
  decisionId,
  placement,
  reward,
  ...(receipt !== undefined && { receipt }),
  ...(evidence && { evidence }),
  ...(earnedBy && { userRef: earnedBy }),
});

/** Creates the {@link Delivery}. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { clock, isDue, ledger } = deps;
  /**
   * Rewards that are waiting for a frame or the handler in this tab. They are tracked, so that the handler is not called
   * twice for the same reward.
   */
  const deliveringIds = new Set<string>();
  /** The back-offs of rewards that failed or that another tab has claimed. */
  const backOffs = new Map<string, BackOff>();
  /** Functions that cancel the callbacks waiting for a frame. */
  const cancelFrames = new Set<() => void>();
  let running = false;
  let runAgain = false;
  const stopController = new native.AbortController();
  const scheduleRetry = (decisionId: string): void => {
    if (stopController.signal.aborted) return;
    const backOff = backOffs.get(decisionId) ?? createBackOff(deps, () => wake());
    backOffs.set(decisionId, backOff);
    backOff.fail();
  };

  const change = async (decisionId: string, event: RewardEvent): Promise<boolean> => {
    let changed = false;
    await ledger.change(decisionId, (current) => {
      const next = advance(current, event);
      changed = next !== current;
      return next;
    });
    return changed;
  };

  /** Calls the handler in the game's next frame. Resolves to false if the frame came too late or was canceled. */
  const callHandler = (entry: LedgerEntry): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const claimExpiry = createDeadline(clock, claimMs);
      const cancelFrame = deps.deliver(() => {
        cancelFrames.delete(cancel);
        const handler = deps.handler();
        // If the claim has expired, another tab may have delivered the reward.
        if (claimExpiry.passed() || !handler || !isDue(entry)) return resolve(false);
        // With `async`, a handler that throws behaves like a handler that rejects.
        const call = async (): Promise<void> => handler(toEarnedReward(entry));
        call().then(() => resolve(true), reject);
      });
      const cancel = (): void => {
        cancelFrame();
        cancelFrames.delete(cancel);
        resolve(false);
      };
      cancelFrames.add(cancel);
    });

  /** Delivers a claimed reward. Resolves when the reward is delivered or its claim is released. */
  const deliverClaimed = async (entry: LedgerEntry, at: number): Promise<boolean> => {
    const { decisionId } = entry;
    deliveringIds.add(decisionId);
    try {
      const delivered = await callHandler(entry);
      await change(decisionId, delivered ? { type: 'delivered' } : { type: 'released', at });
      deliveringIds.delete(decisionId);
      if (delivered) backOffs.delete(decisionId);
      else wake();
    } catch (error) {
      deps.onError(error);
      await change(decisionId, { type: 'released', at });
      deliveringIds.delete(decisionId);
      scheduleRetry(decisionId);
    }
    return true;
  };

  /** A page that was closed or reloaded before the game's next frame can't release its claim. */
  const releaseDeadClaim = async ({
    claimedAt: at,
    claimedBy,
    decisionId,
  }: LedgerEntry): Promise<void> => {
    if (at && claimedBy !== undefined && (await deps.presence?.isGone(claimedBy)))
      await change(decisionId, { type: 'released', at });
  };

  /** Claims a reward, and delivers it. */
  const deliverEntry = async (entry: LedgerEntry): Promise<void> => {
    const { signal } = stopController;
    let endClaim = (): void => {};
    const by = await deps.presence?.show(new Promise((resolve) => (endClaim = resolve)));
    const at = clock.now();
    const isClaimed =
      !signal.aborted && (await change(entry.decisionId, { type: 'claimed', at, by }));
    if (!isClaimed) {
      endClaim();
      // Another tab has claimed the reward, but that tab may die before delivering it.
      return scheduleRetry(entry.decisionId);
    }
    // If the handler outlasts the claim, the loop stops waiting for it and goes on to the next reward. A handler also
    // outlasts the delivery, so the lock is held until it has finished.
    await runWithTimeout(clock, claimMs, signal, () => deliverClaimed(entry, at).finally(endClaim));
  };

  const run = async (): Promise<void> => {
    while (runAgain) {
      runAgain = false;
      for (const entry of (await ledger.readAll()).filter(isDue).sort(compareByEarnedAt)) {
        const { decisionId } = entry;
        if (!isReady()) break;
        if (deliveringIds.has(decisionId) || backOffs.get(decisionId)?.isWaiting()) continue;
        await releaseDeadClaim(entry);
        await deliverEntry(entry);
      }
    }
    running = false;
  };
  const isReady = (): boolean =>
    !stopController.signal.aborted &&
    deps.handler() !== undefined &&
    deps.lifecycle.isVisible() &&
    ledger.cached().some(isDue);
  const wake = (): void => {
    if (!isReady()) return;
    runAgain = true;
    if (running) return;
    running = true;
    void run();
  };
  const cancelBackOffs = (): void => {
    for (const backOff of backOffs.values()) backOff.cancel();
  };

  return {
    wake,
    retry() {
      cancelBackOffs();
      wake();
    },
    releaseClaims() {
      for (const cancel of cancelFrames) cancel();
    },
    stop() {
      stopController.abort();
      cancelBackOffs();
      for (const cancel of cancelFrames) cancel();
    },
  };
}
