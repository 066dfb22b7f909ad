import type { EarnedReward } from '../outcome.ts';
import { bounded, type Clock, deadlineIn } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import { createBackOff } from '../transport/back-off.ts';
import type { Ledger } from './ledger.ts';
import { advance, claimMs, type LedgerEntry, type RewardEvent } from './reward-machine.ts';
import type { RewardHandler } from './rewards.ts';

export interface DeliveryParts {
  ledger: Ledger;
  clock: Clock;
  random: () => number;
  handlers: Set<RewardHandler>;
  /** Whether the entry may be delivered to the current player. */
  isDue(entry: LedgerEntry): boolean;
  /** Calls back when the engine runs game code. */
  deliver(callback: () => void): void;
  lifecycle: Pick<PageLifecycle, 'isVisible'>;
  onError(error: unknown): void;
}

/**
 * Hands earned rewards to the game until its handlers took them: in order, but one that fails or does
 * not come to an end does not hold up the later ones. A claim in the ledger keeps other tabs away.
 */
export interface Delivery {
  /** There may be something to deliver. */
  wake(): void;
  /** The player came back: what failed, or was another tab's, is tried at once. */
  retry(): void;
  /**
   * Releases the claims that wait for a frame, because the page is hidden and gets none (another tab may deliver)
   * or because the player changed.
   */
  yieldToOthers(): void;
  stop(): void;
}

const inOrder = (a: LedgerEntry, b: LedgerEntry): number =>
  (a.earnedAt ?? 0) - (b.earnedAt ?? 0) || (a.decisionId < b.decisionId ? -1 : 1);

const earnedOf = ({
  decisionId,
  placement,
  reward,
  receipt,
  earnedBy,
}: LedgerEntry): EarnedReward => ({
  decisionId,
  placement,
  reward,
  ...(receipt !== undefined && { receipt }),
  ...(earnedBy && { userRef: earnedBy }),
});

/** Creates the {@link Delivery}. */
export function createDelivery(parts: DeliveryParts): Delivery {
  const { clock, handlers, isDue, ledger } = parts;
  /** Rewards that wait for a frame or a handler here; a handler is not called again meanwhile. */
  const delivering = new Set<string>();
  /** Rewards that failed or are another tab's: tried again after a pause. */
  const backingOff = new Set<string>();
  /** Gives up a frame that the engine has not run yet. */
  const abandon = new Set<() => void>();
  let running = false;
  let again = false;
  const stopped = new AbortController();
  const backOff = createBackOff(parts, () => retry());
  const scheduleRetry = (decisionId: string): void => {
    backingOff.add(decisionId);
    if (!stopped.signal.aborted) backOff.failed();
  };

  const change = async (decisionId: string, event: RewardEvent): Promise<boolean> => {
    let changed = false;
    await ledger.change(decisionId, (now) => {
      const next = advance(now, event);
      changed = next !== now;
      return next;
    });
    return changed;
  };

  /** Calls the handlers on the game's next frame; false when that came too late, or never. */
  const callHandlers = (entry: LedgerEntry): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const claim = deadlineIn(clock, claimMs);
      const giveUp = (): void => {
        abandon.delete(giveUp);
        resolve(false);
      };
      abandon.add(giveUp);
      parts.deliver(() => {
        // After its claim, another tab may have handed it over.
        const late = !abandon.delete(giveUp) || claim.passed();
        if (late || handlers.size === 0 || !isDue(entry)) return resolve(false);
        const earned = earnedOf(entry);
        // `async`, so that a handler that throws at once counts like one that rejects.
        const calls = Array.from(handlers, async (handler) => handler(earned));
        Promise.all(calls).then(() => resolve(true), reject);
      });
    });

  /** Resolves when the game took the claimed reward, or it was given back. */
  const handOver = async (entry: LedgerEntry, at: number): Promise<boolean> => {
    const { decisionId } = entry;
    delivering.add(decisionId);
    try {
      const taken = await callHandlers(entry);
      await change(decisionId, taken ? { type: 'delivered' } : { type: 'released', at });
      delivering.delete(decisionId);
      if (taken) backOff.succeeded();
      else wake();
    } catch (error) {
      parts.onError(error);
      await change(decisionId, { type: 'released', at });
      delivering.delete(decisionId);
      scheduleRetry(decisionId);
    }
    return true;
  };

  const run = async (): Promise<void> => {
    while (again) {
      again = false;
      for (const entry of (await ledger.all()).filter(isDue).sort(inOrder)) {
        const { decisionId } = entry;
        if (!isReady()) break;
        if (delivering.has(decisionId) || backingOff.has(decisionId)) continue;
        const at = clock.now();
        // A handler that takes longer than the claim holds goes on beside the next one.
        if (await change(decisionId, { type: 'claimed', at }))
          await bounded(clock, claimMs, stopped.signal, () => handOver(entry, at));
        // Another tab has it; should that tab die, it is ours.
        else scheduleRetry(decisionId);
      }
    }
    running = false;
  };
  const isReady = (): boolean =>
    !stopped.signal.aborted &&
    handlers.size > 0 &&
    parts.lifecycle.isVisible() &&
    ledger.seen().some(isDue);
  const wake = (): void => {
    if (!isReady()) return;
    again = true;
    if (running) return;
    running = true;
    void run();
  };
  const retry = (): void => {
    backingOff.clear();
    backOff.cancel();
    wake();
  };

  return {
    wake,
    retry,
    yieldToOthers() {
      for (const giveUp of abandon) giveUp();
    },
    stop() {
      stopped.abort();
      backOff.cancel();
      for (const giveUp of abandon) giveUp();
    },
  };
}
