import { randomFillSync } from 'node:crypto';

const poolSize = 4_096;

/**
 * Random bytes, of which many are made at once: a call of the generator for each id costs twenty
 * times what the bytes do. Each byte is handed out once.
 */
export function createRandomPool(
  fill: (pool: Uint8Array) => void = randomFillSync,
): (size: number) => Uint8Array {
  const pool = new Uint8Array(poolSize);
  let used = poolSize;
  return (size) => {
    if (used + size > poolSize) {
      fill(pool);
      used = 0;
    }
    used += size;
    return pool.slice(used - size, used);
  };
}
