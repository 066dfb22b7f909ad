import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './time.ts';

/** The longest rest. A step that waited for something else for minutes has not taken minutes of the machine. */
const maxRestMs = 1_000;

/**
 * Creates a function that background work calls after each of its steps. It resolves after as long as the step took, so
 * that work without end takes at most half of a core, and players' requests find the other half free.
 */
export function createRest(
  nowMs: () => number = monotonicMs,
  wait: (ms: number) => Promise<unknown> = sleep,
): () => Promise<void> {
  let resumedAtMs = nowMs();
  return async () => {
    await wait(Math.min(maxRestMs, nowMs() - resumedAtMs));
    resumedAtMs = nowMs();
  };
}
