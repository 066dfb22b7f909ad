import type { FilledDecision } from '../decision/decisions.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { Rewards } from '../reward/rewards.ts';
import { surface } from '../platform/guard.ts';
import type { BreakEffect } from './machine.ts';

export interface Reporter {
  report(event: Extract<BreakEffect, { type: 'report' }>): void;
  watched(): void;
  /** Resolves when everything so far is stored, or was given up. */
  stored(): Promise<void>;
}

/**
 * Stores what happens, in its order. The first frame does not wait for the storage, but no event of an
 * ad is stored before its reward is remembered.
 */
export function createReporter(
  parts: {
    enqueue(event: NewAdEvent): Promise<void>;
    rewards: Pick<Rewards, 'track' | 'watched'>;
  },
  decision: FilledDecision,
): Reporter {
  let last: Promise<void> = Promise.resolve();
  const then = (step: () => Promise<void>) => {
    last = last.then(step).catch(surface);
  };
  then(() => parts.rewards.track(decision));
  return {
    report({ event, watchedMs, visible, detail }) {
      then(() =>
        parts.enqueue({
          type: event,
          decision_id: decision.id,
          token: decision.token,
          ...(watchedMs === undefined ? {} : { watched_ms: watchedMs }),
          ...(visible === undefined ? {} : { visible }),
          ...(detail === undefined ? {} : { detail }),
        }),
      );
    },
    watched() {
      then(() => parts.rewards.watched(decision.id));
    },
    stored: () => last,
  };
}
