import { readWhole } from '../../../scripts/lib/read-whole.mjs';

/** Generates random numbers from a seed. */
export interface Random {
  /** In [0, 1). */
  real(): number;
  /** Both bounds are inclusive. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
}

/** Creates a generator with Mulberry32, which is small, fast, and random enough to vary plans. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const real = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    real,
    integer: (min, max) => min + Math.floor(real() * (max - min + 1)),
    chance: (probability) => real() < probability,
    pick<T>(values: readonly T[]): T {
      return values[Math.floor(real() * values.length)] as T;
    },
  };
}

/**
 * Returns the seed of the run to replay, from TRUEWARD_SEED. A run counts its seeds up from a random one, so that a seed may be
 * higher than any that is drawn.
 */
export const readSeed = (): number | undefined =>
  readWhole('TRUEWARD_SEED', undefined, { least: -(2 ** 31), most: 2 ** 32 });

/** Returns a seed for a new run. */
export const drawSeed = (): number => Math.floor(Math.random() * 2 ** 31);
