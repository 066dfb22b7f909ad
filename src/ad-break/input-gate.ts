import { afterPaint } from '../creative/screen.ts';
import type { Clock } from '../platform/clock.ts';
import { native } from '../platform/native.ts';

/** How long an ad must have been visible before the player can react to it, in milliseconds. */
const restMs = 300;
/** Players who keep pressing are ignored until they stop for {@link restMs}, but no longer than this, in milliseconds. */
const maxRestMs = 1_000;

/**
 * Decides which presses count. A press that begins before a person can have seen the ad was meant for the game, however
 * it reaches the ad.
 */
export interface InputGate {
  /**
   * Returns whether a press counts that this event begins. A press may have waited until a busy page could handle it,
   * so the time of the event decides.
   */
  admit(event: Pick<Event, 'timeStamp'>): boolean;
  /** Ignores input for a moment, because what the player sees has changed. */
  rest(): void;
  destroy(): void;
}

/**
 * Creates a gate that opens shortly after the page's next frame. Without frames, it opens after a second in which the page
 * isn't busy: a busy page may not have shown the ad yet, whatever the time.
 */
export function createInputGate(clock: Pick<Clock, 'after' | 'monotonic'>): InputGate {
  let restsSinceMs = 0;
  let opensAtMs = Infinity;
  const stops = [afterPaint(begin), clock.after(maxRestMs - restMs, begin)];

  function begin(): void {
    destroy();
    rest();
  }
  function rest(): void {
    restsSinceMs = clock.monotonic();
    opensAtMs = restsSinceMs + restMs;
  }
  function destroy(): void {
    for (const stop of stops) stop();
  }

  return {
    admit(event) {
      const pressedAtMs = clock.monotonic() - findDelayMs(event);
      if (pressedAtMs >= opensAtMs) return true;
      opensAtMs = Math.max(opensAtMs, Math.min(restsSinceMs + maxRestMs, pressedAtMs + restMs));
      return false;
    },
    rest,
    destroy,
  };
}

/** How long a busy page can make an event wait, in milliseconds. The time of an older event is from another clock. */
const maxDelayMs = 5_000;

/**
 * Returns how long an event has waited, in milliseconds. Zero if its time is foreign: browsers that are embedded in other
 * programs leave it at zero, and extensions let the page's clock run faster.
 */
function findDelayMs({ timeStamp }: Pick<Event, 'timeStamp'>): number {
  const delayMs = native.monotonic() - timeStamp;
  return timeStamp !== 0 && delayMs > 0 && delayMs < maxDelayMs ? delayMs : 0;
}
