import { uptime } from 'node:os';
import { type Clock, systemClock } from './time.ts';

/** The machine's own clocks, in milliseconds. */
export interface Machine {
  /** Unix time. May be wrong, and may jump in either direction. */
  wallMs(): number;
  /** Time since an arbitrary point. Never jumps, but stops while the machine sleeps. */
  monotonicMs(): number;
  /** Time since the machine was started, including the time that it slept. */
  uptimeMs(): number;
}

export const machine: Machine = {
  wallMs: systemClock.nowMs,
  monotonicMs: systemClock.monotonicMs,
  uptimeMs: () => uptime() * 1_000,
};

/** A reading of the reference clock: the database's, or the machine's wall clock for an embedded database. */
export interface Reading {
  referenceMs: number;
  /** The monotonic times at which the reading was requested and received. */
  sentAtMs: number;
  receivedAtMs: number;
}

/** Thrown when a reading can't be right. */
export class ReadingError extends Error {}

/** A clock that follows a reference without ever going back. */
export interface SteadyClock extends Clock {
  /**
   * Takes a reading into account. Returns by how much the reference has moved since the last reading, in milliseconds.
   *
   * @throws ReadingError when the reading can't be right. The clock then ignores it.
   */
  adjust(reading: Reading): number;
  /** The most by which the last reading can be wrong by now. */
  uncertaintyMs(): number;
  /** How far the reference is ahead of this clock. The clock approaches it slowly. */
  behindMs(): number;
}

/**
 * How fast the clock approaches the reference: 20 ms per second. An ad counts as watched after 95% of its length, so a
 * clock that is up to 2% too slow denies nobody.
 */
const slewRate = 0.02;
/** How fast two machines' monotonic clocks may drift apart. NTP corrects their rates by at most 500 ppm. */
const driftRate = 0.0005;
/** A difference between wall time and monotonic time that suggests that the machine slept. */
const jumpMs = 250;
/** A shorter sleep is corrected like any other difference. Some systems count their uptime in whole seconds. */
const minSleepMs = 2_000;
/** A clock that is further behind the reference jumps. A virtual machine that was frozen can't know it otherwise. */
const maxBehindMs = 2_000;
const firstMs = Date.UTC(2000, 0);
const endMs = Date.UTC(2101, 0);

/**
 * Creates a clock that starts at the reading. Later readings change its speed by at most 2%. The clock jumps only
 * forward: after the machine has slept, because its monotonic clock stood still, and if it is far behind.
 *
 * @param catchesUp whether the clock jumps if it is more than two seconds behind the reference
 * @throws ReadingError when the first reading can't be right.
 */
export function createSteadyClock(
  clocks: Machine,
  first: Reading,
  catchesUp: boolean,
): SteadyClock {
  let { offsetMs: targetMs, errorMs } = interpret(first);
  let measuredAtMs = first.receivedAtMs;
  // The offset in use, and when it was last moved toward the target.
  let [offsetMs, movedAtMs] = [targetMs, first.receivedAtMs];
  let lastMs = -Infinity;
  const readWall = (nowMs: number): number => clocks.wallMs() - nowMs;
  const readUptime = (nowMs: number): number => clocks.uptimeMs() - nowMs;
  let wallMs = readWall(clocks.monotonicMs());
  let uptimeMs = readUptime(clocks.monotonicMs());

  /** Jumps forward if the machine has slept: its wall clock and its uptime then both run ahead of the monotonic clock. */
  const makeUpForSleep = (nowMs: number): void => {
    const [wall, up] = [readWall(nowMs), readUptime(nowMs)];
    const sleptMs = Math.min(wall - wallMs, up - uptimeMs);
    [wallMs, uptimeMs] = [wall, up];
    if (sleptMs < minSleepMs) return;
    offsetMs += sleptMs;
    targetMs += sleptMs;
  };
  const move = (): number => {
    const monotonic = clocks.monotonicMs();
    if (Math.abs(readWall(monotonic) - wallMs) > jumpMs) makeUpForSleep(monotonic);
    const maxMs = Math.max(0, monotonic - movedAtMs) * slewRate;
    offsetMs += Math.max(-maxMs, Math.min(maxMs, targetMs - offsetMs));
    movedAtMs = monotonic;
    return monotonic;
  };
  const uncertaintyAt = (monotonic: number): number =>
    errorMs + Math.max(0, monotonic - measuredAtMs) * driftRate;

  return {
    monotonicMs: clocks.monotonicMs,
    nowMs() {
      const monotonic = move();
      lastMs = Math.max(lastMs, Math.floor(monotonic + offsetMs));
      return lastMs;
    },
    adjust(reading) {
      const measured = interpret(reading);
      makeUpForSleep(move());
      const knownMs = uncertaintyAt(reading.receivedAtMs);
      const movedMs = measured.offsetMs - targetMs;
      // A slow answer that agrees with what is known says nothing new.
      if (measured.errorMs > knownMs && Math.abs(movedMs) <= measured.errorMs) return 0;
      [targetMs, errorMs, measuredAtMs] = [
        measured.offsetMs,
        measured.errorMs,
        reading.receivedAtMs,
      ];
      if (catchesUp && targetMs - offsetMs > maxBehindMs) offsetMs = targetMs;
      return movedMs;
    },
    uncertaintyMs: () => uncertaintyAt(clocks.monotonicMs()),
    behindMs() {
      move();
      return targetMs - offsetMs;
    },
  };
}

/** Returns the reference's lead over the monotonic clock, and the most by which it can be wrong. */
function interpret({ referenceMs, sentAtMs, receivedAtMs }: Reading): {
  offsetMs: number;
  errorMs: number;
} {
  const roundTripMs = receivedAtMs - sentAtMs;
  if (!(roundTripMs >= 0))
    throw new ReadingError(
      `the answer came ${-roundTripMs} ms before the question, so this machine's monotonic clock can't be trusted`,
    );
  if (!(referenceMs >= firstMs && referenceMs < endMs))
    throw new ReadingError(
      `the clock says ${referenceMs} (Unix milliseconds), expected a time in the years 2000 to 2100`,
    );
  // The reference was read at some time between the question and the answer.
  return { offsetMs: referenceMs - (sentAtMs + receivedAtMs) / 2, errorMs: roundTripMs / 2 };
}
