import { expect, test } from 'vitest';
import { isTimeZone, listBuckets } from '../../src/history/time-buckets.ts';

const format = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

test.each([
  ['UTC', '2026-03-01T00:00', '2026-03-03T00:00', ['2026-03-01T00:00', '2026-03-02T00:00']],
  // A period's first day starts before the period.
  [
    'Asia/Kolkata',
    '2026-03-01T00:00',
    '2026-03-02T00:00',
    ['2026-02-28T18:30', '2026-03-01T18:30'],
  ],
  ['Asia/Calcutta', '2026-03-01T00:00', '2026-03-01T01:00', ['2026-02-28T18:30']],
  ['Asia/Kathmandu', '2026-03-01T19:00', '2026-03-02T18:00', ['2026-03-01T18:15']],
  // The clock goes back from 1:00 to 0:00, so that midnight comes twice, and the day has 25 hours.
  [
    'America/Havana',
    '2026-11-01T04:00',
    '2026-11-02T06:00',
    ['2026-11-01T04:00', '2026-11-02T05:00'],
  ],
  // Days without a midnight, of 23 hours, and a day that never was.
  [
    'Africa/Cairo',
    '2026-04-23T22:00',
    '2026-04-25T00:00',
    ['2026-04-23T22:00', '2026-04-24T21:00'],
  ],
  [
    'Pacific/Apia',
    '2011-12-29T12:00',
    '2011-12-31T10:00',
    ['2011-12-29T10:00', '2011-12-30T10:00'],
  ],
  ['Pacific/Kiritimati', '2026-03-01T10:00', '2026-03-01T11:00', ['2026-03-01T10:00']],
])('the days in %s from %s to %s start at %j', (timeZone, from, to, starts) => {
  const period = { fromMs: Date.parse(`${from}Z`), toMs: Date.parse(`${to}Z`) };
  expect(listBuckets(period, 'day', timeZone).map(format)).toEqual(starts);
});

test('hours start on the hour in every time zone', () => {
  const fromMs = Date.parse('2026-03-01T17:00:00Z');
  expect(
    listBuckets({ fromMs, toMs: fromMs + 7_200_000 }, 'hour', 'Asia/Kolkata').map(format),
  ).toEqual(['2026-03-01T17:00', '2026-03-01T18:00']);
});

test('days follow one another without gaps in every time zone', () => {
  const period = { fromMs: Date.UTC(2026, 0, 1, 7), toMs: Date.UTC(2026, 11, 31) };
  for (const [index, timeZone] of Intl.supportedValuesOf('timeZone').entries()) {
    if (!isTimeZone(timeZone)) throw new Error(`${timeZone} is rejected.`);
    if (index % 20 > 0) continue; // All of them would take seconds.
    const starts = listBuckets(period, 'day', timeZone);
    expect(starts[0]).toBeLessThanOrEqual(period.fromMs);
    expect(starts.length).toBeGreaterThanOrEqual(364);
    const hours = starts.slice(1).map((start, index) => (start - (starts[index] ?? 0)) / 3_600_000);
    for (const length of hours) expect([23, 24, 25]).toContain(length);
  }
});
