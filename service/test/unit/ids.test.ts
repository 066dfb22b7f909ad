import { expect, test } from 'vitest';
import { createIds } from '../../src/platform/ids.ts';

test('ids are well-formed and sort chronologically', () => {
  let nowMs = Date.parse('2026-06-01T12:00:00.000Z');
  const makeId = createIds({ nowMs: () => nowMs }, (size) => new Uint8Array(size).fill(255));
  const ids = [0, 1, 1_000, 86_400_000, 1e12].map((offsetMs) => {
    nowMs += offsetMs;
    return makeId('decision');
  });
  for (const id of ids) expect(id).toMatch(/^dec_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});
