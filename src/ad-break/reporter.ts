import type { ReadyAd } from '../decision/decisions.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { Rewards } from '../reward/rewards.ts';
import { surface } from '../platform/guard.ts';
import type { BreakEffect } from './machine.ts';

export interface Reporter {
  report(event: Extract<BreakEffect, { type: 'report' }>): void;
  watched(): void;
  /** Resolves when every event reported so far is stored or was dropped. */
  stored(): Promise<unknown>;
}

/**
 * Enqueues the events of an ad at once and in order. Only the completion waits for storage: the reward must be
 * stored on the device before the service can confirm it.
 */
export function createReporter(
  parts: {
    enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
    rewards: Pick<Rewards, 'track' | 'watched'>;
  },
  { decision, player }: ReadyAd,
): Reporter {
  // In a microtask, so that the game is held first.
  const tracked = Promise.resolve()
    .then(() => parts.rewards.track(decision, player))
    .catch(surface);
  let stored: Promise<unknown> = tracked;
  let completed = false;
  return {
    report({ event, watchedMs, visible, detail }) {
      completed ||= event === 'complete';
      const enqueued = parts.enqueue(
        {
          type: event,
          decision_id: decision.id,
          token: decision.token,
          ...(watchedMs === undefined ? {} : { watched_ms: watchedMs }),
          ...(visible === undefined ? {} : { visible }),
          ...(detail === undefined ? {} : { detail }),
        },
        // What follows the completion must not overtake it.
        completed ? tracked : undefined,
      );
      stored = Promise.all([stored, enqueued.catch(surface)]);
    },
    watched() {
      stored = stored.then(() => parts.rewards.watched(decision.id)).catch(surface);
    },
    stored: () => stored,
  };
}
