import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import { formatTimeline, parseTimeline, TimelineError } from '../../src/reward/timeline.ts';

const decisionId = 'dec_01k9xq3v5z8e6t0w2y4a7c1f3h';
const issuedAtMs = Date.UTC(2026, 10, 22);
const ms = fc.integer({ min: 0, max: 86_400_000 });

const event = fc
  .record({
    id: fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_-]{8,64}$/),
      fc.integer({ min: 1, max: 99 }).map((count) => `923741103577103-${count}`),
    ),
    type: fc.constantFrom<RecordedEvent['type'][]>(
      'impression',
      'viewable',
      'start',
      'first_quartile',
      'midpoint',
      'third_quartile',
      'complete',
      'click',
      'skip',
      'close',
      'error',
    ),
    receivedAfterMs: ms,
    inFlightMs: ms,
    offsetMs: fc.maxSafeInteger(),
    clamped: fc.boolean(),
    watchedMs: fc.option(ms, { nil: undefined }),
    visible: fc.option(fc.record({ ratio: fc.double({ min: 0, max: 1, noNaN: true }), ms }), {
      nil: undefined,
    }),
    detail: fc.option(fc.string({ unit: 'grapheme', maxLength: 256 }), { nil: undefined }),
  })
  .map(({ receivedAfterMs, inFlightMs, watchedMs, visible, detail, ...fields }): RecordedEvent => {
    const receivedAtMs = issuedAtMs + receivedAfterMs;
    return {
      ...fields,
      decisionId,
      receivedAtMs,
      occurredAtMs: receivedAtMs - inFlightMs,
      ...(watchedMs === undefined ? {} : { watchedMs }),
      ...(visible === undefined ? {} : { visible: { ...visible, ratio: visible.ratio || 0 } }),
      ...(detail === undefined ? {} : { detail }),
    };
  });

test('parsing a formatted timeline returns the same events in the same order', () => {
  fc.assert(
    fc.property(fc.array(event), (events) => {
      expect(parseTimeline(decisionId, formatTimeline(events))).toEqual(events);
    }),
  );
});

test('ids that differ only after the last hyphen are abbreviated', () => {
  const ids = ['923741103577103-1', '923741103577103-12', 'another-2'];
  const times = { receivedAtMs: issuedAtMs, occurredAtMs: issuedAtMs, offsetMs: 0, clamped: false };
  const text = formatTimeline(ids.map((id) => ({ id, decisionId, type: 'click', ...times })));
  expect(text).toContain('["~12",');
  expect(parseTimeline(decisionId, text).map(({ id }) => id)).toEqual(ids);
});

test('the error for a malformed timeline names the decision', () => {
  const start = ['event-01', 's', 0, 12, -3];
  const malformedTimelines = [
    '',
    '{}',
    'null',
    '[1795255200000,5]',
    JSON.stringify([issuedAtMs, start.slice(0, 2)]),
    JSON.stringify([issuedAtMs, start.with(0, 5)]),
    JSON.stringify([issuedAtMs, start.with(1, 'start')]),
    JSON.stringify([issuedAtMs, start.with(2, 'soon')]),
    JSON.stringify([issuedAtMs, start.with(3, -1)]),
    JSON.stringify([issuedAtMs, start.with(4, 1.5)]),
    JSON.stringify([issuedAtMs, [...start, 0, -1]]),
    JSON.stringify([issuedAtMs, [...start, 0, 0, 1.1, 0]]),
    JSON.stringify([0, start]),
  ];
  for (const text of malformedTimelines)
    expect(() => parseTimeline(decisionId, text), text).toThrow(
      expect.objectContaining({
        name: 'TimelineError',
        message: expect.stringContaining(decisionId) as string,
      }),
    );
});

test('formatting an invalid event throws an error', () => {
  const validEvent: RecordedEvent = {
    id: 'event-01',
    decisionId,
    type: 'start',
    receivedAtMs: issuedAtMs,
    occurredAtMs: issuedAtMs,
    offsetMs: 0,
    clamped: false,
  };
  for (const invalidFields of [
    { occurredAtMs: issuedAtMs + 1 },
    { occurredAtMs: Date.UTC(2000, 0, 1) },
    { receivedAtMs: NaN },
    { watchedMs: -1 },
    { visible: { ratio: 1.1, ms: 0 } },
    { visible: { ratio: 1, ms: -1 } },
  ])
    expect(() => formatTimeline([{ ...validEvent, ...invalidFields }])).toThrow(TimelineError);
});
