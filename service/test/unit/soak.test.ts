import { expect, test } from 'vitest';
import { findGrowth, type Sample } from '../soak/sample.ts';

const samples = (memoryMb: (index: number) => number): Sample[] =>
  Array.from({ length: 90 }, (_, index) => ({
    minutes: index,
    memoryMb: memoryMb(index),
    heapMb: 50 + (index % 10),
    queued: index % 7,
    connections: 8,
    pending: index % 20,
    overdueS: 0,
    configurationAgeS: 0.5,
  }));

test('findGrowth reports a leak but ignores warm-up and fluctuations', () => {
  expect(findGrowth(samples((index) => 120 + index * 2))).toEqual([
    'memoryMb grew from 210.0 to 270.0',
  ]);
  expect(findGrowth(samples((index) => Math.min(120 + index * 4, 200)))).toEqual([]);
  expect(findGrowth(samples((index) => 150 + 20 * Math.sin(index)))).toEqual([]);
});
