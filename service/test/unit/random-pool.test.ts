import { expect, test } from 'vitest';
import { createRandomPool } from '../../src/platform/random-pool.ts';

test('every byte is handed out once, also across the end of the pool', () => {
  let next = 0;
  const take = createRandomPool((pool) => {
    new Uint32Array(pool.buffer).forEach((_, index, words) => (words[index] = next++));
  });
  const words = new Set<number>();
  for (let count = 0; count < 3_000; count += 1)
    for (const word of new Uint32Array(take(8).buffer)) words.add(word);
  expect(words.size).toBe(6_000);
});

test('what was handed out does not change when more is taken', () => {
  const take = createRandomPool();
  const first = take(10);
  const copy = [...first];
  for (let count = 0; count < 1_000; count += 1) take(10);
  expect([...first]).toEqual(copy);
});
