import type { Clock } from '../platform/clock.ts';
import type { Locks } from '../platform/locks.ts';
import { backOffMs } from '../transport/back-off.ts';
import type { Ledger } from './ledger.ts';
import { advance, isDue, type LedgerEntry } from './reward-machine.ts';
import type { RewardHandler } from './rewards.ts';

export interface DeliveryParts {
  name: string;
  ledger: Ledger;
  clock: Clock;
  random: () => number;
  locks: Locks;
  /** Calls back when the engine runs game code. */
  deliver(callback: () => void): void;
  isVisible(): boolean;
  onError(error: unknown): void;
}

/** Hands earned rewards to the game: in order, in one tab, until its handlers took them. */
export interface Delivery {
  add(handler: RewardHandler): () => void;
  /** There may be something to deliver. */
  wake(): void;
  /** The page is hidden: no frame will come, so another tab may deliver. */
  yieldToOthers(): void;
  stop(): void;
}

const inOrder = (a: LedgerEntry, b: LedgerEntry): number =>
  (a.earnedAt ?? 0) - (b.earnedAt ?? 0) || (a.decisionId < b.decisionId ? -1 : 1);

/** Makes the {@link Delivery}; it holds the tabs' lock only while it has something to hand over. */
export function createDelivery(parts: DeliveryParts): Delivery {
  const handlers = new Set<RewardHandler>();
  let release: (() => void) | undefined;
  /** Gives up a callback that the engine has not run yet. */
  let abandon: (() => void) | undefined;
  let cancelPause: (() => void) | undefined;
  let failures = 0;
  let stopped = false;

  /** Runs the handlers on the game's next frame; false when the page was hidden before that. */
  const hand = (entry: LedgerEntry): Promise<boolean> =>
    new Promise((resolve, reject) => {
      let abandoned = false;
      abandon = () => {
        abandoned = true;
        resolve(false);
      };
      parts.deliver(() => {
        abandon = undefined;
        if (abandoned) return;
        const { decisionId, placement, reward, receipt } = entry;
        if (reward === undefined) return resolve(true);
        const earned = { decisionId, placement, reward, ...(receipt !== undefined && { receipt }) };
        // `async`, so that a handler that throws at once counts like one that rejects.
        const calls = [...handlers].map(async (handler) => handler(earned));
        Promise.all(calls).then(() => resolve(true), reject);
      });
    });

  const run = async (): Promise<void> => {
    try {
      // Read again under the lock: another tab may have delivered meanwhile.
      for (const entry of (await parts.ledger.all()).filter(isDue).sort(inOrder)) {
        if (stopped || handlers.size === 0 || !(await hand(entry))) break;
        await parts.ledger.change(entry.decisionId, (now) => advance(now, { type: 'delivered' }));
        failures = 0;
      }
    } catch (error) {
      failures += 1;
      parts.onError(error);
    } finally {
      release?.();
      release = undefined;
    }
    if (stopped || !parts.ledger.seen().some(isDue)) return;
    if (failures === 0) wake();
    else pause();
  };
  const pause = (): void => {
    cancelPause = parts.clock.after(backOffMs(failures, parts.random), () => {
      cancelPause = undefined;
      wake();
    });
  };
  const wake = (): void => {
    const ready = handlers.size > 0 && parts.isVisible() && parts.ledger.seen().some(isDue);
    if (stopped || release || cancelPause || !ready) return;
    release = parts.locks.acquire(`${parts.name}:delivery`, () => void run());
  };

  return {
    add(handler) {
      handlers.add(handler);
      wake();
      return () => handlers.delete(handler);
    },
    wake,
    yieldToOthers: () => abandon?.(),
    stop() {
      stopped = true;
      cancelPause?.();
      abandon?.();
      release?.();
    },
  };
}
