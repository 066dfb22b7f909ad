import { EventEmitter } from 'node:events';

/** Tells waiting requests of this process that a decision's reward moved on. */
export interface RewardChanges {
  announce(decisionIds: readonly string[]): void;
  /** Resolves at the next change, after `withinMs`, or when the signal aborts; never rejects. */
  next(decisionId: string, withinMs: number, signal: AbortSignal): Promise<void>;
}

export function createRewardChanges(): RewardChanges {
  const emitter = new EventEmitter();
  // One listener per waiting request, not a leak.
  emitter.setMaxListeners(0);
  return {
    announce(decisionIds) {
      for (const id of decisionIds) emitter.emit(id);
    },
    next(decisionId, withinMs, signal) {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          emitter.off(decisionId, done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, withinMs);
        emitter.on(decisionId, done);
        signal.addEventListener('abort', done);
        if (signal.aborted) done();
      });
    },
  };
}
