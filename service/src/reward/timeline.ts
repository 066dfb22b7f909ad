import { type RecordedEvent, makeEventKey } from '../decision/decision-state.ts';
import type { Queries } from '../store/database.ts';
import { checkStored, forAccount } from '../store/unnest.ts';

/*
 * Storage format of a decision's events: a JSON array. The first element is the time at which the first event was
 * received, in Unix milliseconds. The other elements are one array per event, in recording order:
 *
 *   [1795255200000,["92374…103-1","s",0,12,-3],["~2","c",5112,12,-3,0,5000]]
 *
 * Each event consists of its id, its type, its arrival time relative to the first event, the latency (received −
 * occurred), the offset, whether its time was clamped, the watch time, the visible ratio, the visible time and the
 * detail. Times are in milliseconds. Trailing elements without a value are omitted.
 *
 * SDK ids have 32 characters and differ only after the last hyphen. A leading `~` in an id stands for the first id's
 * prefix, up to its last hyphen. The `recorded_events` view reads the same format.
 */

const typeCodes: Readonly<Record<RecordedEvent['type'], string>> = {
  impression: 'i',
  viewable: 'v',
  start: 's',
  first_quartile: '1',
  midpoint: '2',
  third_quartile: '3',
  complete: 'c',
  click: 'k',
  skip: 'x',
  close: 'z',
  error: 'e',
  source_callback: 'a',
};
const typesByCode = new Map(
  (Object.keys(typeCodes) as RecordedEvent['type'][]).map((type) => [typeCodes[type], type]),
);

/** No event can be earlier than this: 2000-01-02. */
const minOccurredAtMs = 946_771_200_000;

/** Thrown when a stored timeline is malformed, or when the caller tries to store an event with impossible values. */
export class TimelineError extends Error {
  constructor(decisionId: string, problem: string) {
    super(`Decision ${decisionId} has a malformed timeline: ${problem}.`);
    this.name = 'TimelineError';
  }
}

/**
 * Serializes one decision's events.
 *
 * @throws TimelineError if an event has impossible values.
 */
export function formatTimeline(events: readonly RecordedEvent[]): string {
  const [first] = events;
  const firstReceivedAtMs = first?.receivedAtMs ?? 0;
  const prefix = findSharedPrefix(first?.id);
  for (const event of events) assertPossible(event);
  const formattedEvents = events.map((event, index) => [
    index > 0 && prefix !== '' && event.id.startsWith(prefix)
      ? `~${event.id.slice(prefix.length)}`
      : event.id,
    ...formatEvent(event, firstReceivedAtMs),
  ]);
  return JSON.stringify([firstReceivedAtMs, ...formattedEvents]);
}

/** Returns the prefix shared by the SDK's event ids: the first id up to its last hyphen. */
const findSharedPrefix = (firstId: unknown): string =>
  typeof firstId === 'string' ? firstId.slice(0, firstId.lastIndexOf('-') + 1) : '';

/** Formats an event without its id. */
function formatEvent(event: RecordedEvent, firstReceivedAtMs: number): unknown[] {
  const { type, receivedAtMs, occurredAtMs, offsetMs } = event;
  const optionalFields = [
    event.clamped ? 1 : undefined,
    event.watchedMs,
    event.visible?.ratio,
    event.visible?.ms,
    event.detail,
  ];
  const end = optionalFields.findLastIndex((value) => value !== undefined) + 1;
  return [
    typeCodes[type],
    receivedAtMs - firstReceivedAtMs,
    receivedAtMs - occurredAtMs,
    offsetMs,
    ...optionalFields.slice(0, end).map((value, index) => value ?? (index === 0 ? 0 : null)),
  ];
}

/**
 * Parses stored events.
 *
 * @throws TimelineError if the text is malformed or an event has impossible values.
 */
export function parseTimeline(decisionId: string, text: string): RecordedEvent[] {
  const [firstReceivedAtMs, ...events] = parseArray(decisionId, text);
  const prefix = Array.isArray(events[0]) ? findSharedPrefix(events[0][0]) : '';
  return events.map((event) => {
    if (!Array.isArray(event)) throw new TimelineError(decisionId, 'an event is not an array');
    const recordedEvent = readEvent(decisionId, firstReceivedAtMs, event);
    if (recordedEvent.id.startsWith('~')) recordedEvent.id = prefix + recordedEvent.id.slice(1);
    assertPossible(recordedEvent);
    return recordedEvent;
  });
}

function parseArray(decisionId: string, text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new TimelineError(decisionId, 'it is not a JSON array');
}

function readEvent(
  decisionId: string,
  firstReceivedAtMs: unknown,
  event: unknown[],
): RecordedEvent {
  const [id, code, afterMs, inFlightMs, offsetMs, clamped, watchedMs, ratio, visibleMs, detail] =
    event as [string, string, ...number[]];
  const type = typesByCode.get(code);
  if (typeof id !== 'string' || type === undefined)
    throw new TimelineError(decisionId, 'an event has no id or no known type');
  const receivedAtMs = Number(firstReceivedAtMs) + Number(afterMs);
  return {
    id,
    decisionId,
    type,
    occurredAtMs: receivedAtMs - Number(inFlightMs),
    receivedAtMs,
    offsetMs: Number(offsetMs),
    clamped: clamped === 1,
    ...(watchedMs == null ? {} : { watchedMs }),
    ...(ratio == null || visibleMs == null ? {} : { visible: { ratio, ms: visibleMs } }),
    ...(detail == null ? {} : { detail: String(detail) }),
  };
}

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isFinite(value) && value >= min && value <= max;

function assertPossible(event: RecordedEvent): void {
  const { decisionId, id, occurredAtMs, receivedAtMs, offsetMs, watchedMs = 0, visible } = event;
  if (!isWithin(occurredAtMs, minOccurredAtMs, receivedAtMs) || !Number.isSafeInteger(receivedAtMs))
    throw new TimelineError(
      decisionId,
      `event ${id} occurred at ${occurredAtMs} and was received at ${receivedAtMs}`,
    );
  if (!Number.isSafeInteger(offsetMs))
    throw new TimelineError(decisionId, `event ${id} has an offset of ${offsetMs} ms`);
  if (!isWithin(watchedMs, 0, Infinity))
    throw new TimelineError(decisionId, `event ${id} has a watch time of ${watchedMs} ms`);
  if (visible && !(isWithin(visible.ratio, 0, 1) && isWithin(visible.ms, 0, Infinity)))
    throw new TimelineError(
      decisionId,
      `event ${id} has a visible ratio of ${visible.ratio} for ${visible.ms} ms`,
    );
}

/**
 * Maximum number of events per decision. Real devices report about ten. At the maximum, the database has to rewrite a
 * 70 KB row for each new event.
 */
export const maxEvents = 200;

/** The outcome of one event: new, already stored, or rejected because its decision has too many events. */
type Outcome = 'new' | 'stored' | 'too_many';

const appendStatement = `INSERT INTO timelines (account_id, decision_id, events)
    ${forAccount('unnest($2::text[]), unnest($3::text[])')}
  ON CONFLICT (account_id, decision_id) DO UPDATE SET events = excluded.events RETURNING 1`;

/**
 * Appends events to their decisions' timelines in one statement, and to `recordedEvents`. The decisions must have been
 * locked before `recordedEvents` was read. If several events have the same id, only the first one is stored. `written`
 * settles when the statement does.
 */
export function appendEvents(
  queries: Queries,
  accountId: string,
  events: readonly RecordedEvent[],
  recordedEvents: ReadonlyMap<string, RecordedEvent[]>,
): { outcomes: ReadonlyMap<RecordedEvent, Outcome>; written: Promise<unknown> } {
  const outcomes = new Map<RecordedEvent, Outcome>();
  const changedIds = new Set<string>();
  const keys = new Set([...recordedEvents.values()].flat().map(makeEventKey));
  for (const event of events) {
    const timeline = recordedEvents.get(event.decisionId) ?? [];
    const isStored = keys.has(makeEventKey(event));
    if (isStored || timeline.length >= maxEvents) {
      outcomes.set(event, isStored ? 'stored' : 'too_many');
      continue;
    }
    outcomes.set(event, 'new');
    keys.add(makeEventKey(event));
    timeline.push(event);
    changedIds.add(event.decisionId);
  }
  if (changedIds.size === 0) return { outcomes, written: Promise.resolve() };
  const ids = [...changedIds].toSorted();
  const texts = ids.map((id) => formatTimeline(recordedEvents.get(id) ?? []));
  const written = queries
    .execute(appendStatement, [accountId, ids, texts])
    .then((rows) => checkStored(accountId, rows.length, ids.length));
  return { outcomes, written };
}
