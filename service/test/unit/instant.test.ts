import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requireInstant, parseInstant } from '../../src/platform/time.ts';

describe('parseInstant', () => {
  test.each([
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22t10:00:00.5z', '2026-11-22T10:00:00.500Z'],
    ['2026-11-22T10:00:00.123456789Z', '2026-11-22T10:00:00.123Z'],
    ['2026-11-22T10:00:00.05+05:30', '2026-11-22T04:30:00.050Z'],
    ['2026-11-22T23:30:00-01:00', '2026-11-23T00:30:00.000Z'],
    ['2024-02-29T00:00:00-00:00', '2024-02-29T00:00:00.000Z'],
    ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
    ['2100-12-31T23:59:59.999Z', '2100-12-31T23:59:59.999Z'],
  ])('parses %s', (text, expected) => {
    expect(new Date(requireInstant(text)).toISOString()).toBe(expected);
  });

  test.each([
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['an offset without minutes', '2026-11-22T10:00:00+05'],
    ['an offset without a colon', '2026-11-22T10:00:00+0530'],
    ['no offset', '2026-11-22T10:00:00'],
    ['no seconds', '2026-11-22T10:00Z'],
    ['a day that does not exist', '2026-02-29T10:00:00Z'],
    ['a month that does not exist', '2026-13-01T10:00:00Z'],
    ['hour 24', '2026-11-22T24:00:00Z'],
    ['an offset of 24 hours', '2026-11-22T10:00:00+24:00'],
    ['a space instead of the T', '2026-11-22 10:00:00Z'],
    ['ten fractional digits', '2026-11-22T10:00:00.0123456789Z'],
    ['a comma', '2026-11-22T10:00:00,5Z'],
    ['the year 0', '0000-01-01T00:00:00Z'],
    ['a time before 2000', '1999-12-31T23:59:59Z'],
    ['an offset that puts the time before 2000', '2000-01-01T00:00:00+00:01'],
    ['a time after 2100', '2101-01-01T00:00:00Z'],
    ['a six-digit year', '+002026-11-22T10:00:00Z'],
    ['a trailing line break', '2026-11-22T10:00:00Z\n'],
    ['no characters', ''],
  ])('rejects a time with %s', (_name, text) => {
    expect(parseInstant(text)).toBeUndefined();
    expect(() => requireInstant(text)).toThrow(RangeError);
  });

  test('round-trips every millisecond from 2000 to 2100', () => {
    const time = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2101, 0) - 1 });
    fc.assert(
      fc.property(time, (ms) => {
        expect(parseInstant(new Date(ms).toISOString())).toBe(ms);
      }),
    );
  });
});
