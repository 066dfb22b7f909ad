import type { EventBatch, EventBatchResult, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { toJson } from '../platform/json.ts';
import { type Guard, hasShape, reasonOf, type ServiceClient } from '../transport/service-client.ts';
import {
  type BatchLimits,
  isEventRecord,
  lengthOf,
  type QueuedEvent,
  type SetAside,
  type StoredRecord,
} from './event-store.ts';

/** Limits of a service of this release: 500 events and 256 KiB. */
export const largeBatch: BatchLimits = { events: 500, bytes: 250_000 };

/** Records that go to the service in one request, and are removed together. */
export interface Batch {
  /** How many records it takes. */
  records: number;
  events: QueuedEvent[];
  bytes: number;
  /** Records that this release can't read. */
  unreadable: SetAside[];
}

const parse = (value: unknown): QueuedEvent[] | undefined => {
  if (!isEventRecord(value)) return undefined;
  try {
    const events = value.events.map((json) => ({ id: (JSON.parse(json) as QueuedEvent).id, json }));
    if (events.every(({ id }) => id)) return events;
  } catch {
    // A damaged record is set aside, like one of an unknown release.
  }
  return undefined;
};

/**
 * Takes the oldest records that fit into one request, and at least one, since a record is never
 * larger than a request.
 */
export function nextBatch(records: StoredRecord[], limits: BatchLimits): Batch {
  const batch: Batch = { records: 0, events: [], bytes: 0, unreadable: [] };
  for (const { value } of records) {
    const events = parse(value);
    if (events) {
      const bytes = lengthOf(events.map(({ json }) => json));
      const isFull =
        batch.events.length + events.length > limits.events || batch.bytes + bytes > limits.bytes;
      if (batch.events.length > 0 && isFull) break;
      batch.events.push(...events);
      batch.bytes += bytes;
    } else batch.unreadable.push({ reason: 'unreadable', value });
    batch.records += 1;
  }
  return batch;
}

const isEventBatchResult: Guard<EventBatchResult> = (body): body is EventBatchResult =>
  hasShape(body, { results: [], decisions: [] });

/** Why some events have to be sent again. */
export interface Failure {
  reason: string;
  retryAfterMs: number | undefined;
}

/** What became of a batch. */
export interface Delivery {
  /** Ids of the events that are done, the rejected ones among them. */
  settled: string[];
  /** Events that the service will never take. */
  rejections: { event: QueuedEvent; code: string }[];
  rewards: RewardStatus[];
  /** Whether a body was refused as a whole, for its size or for an event in it. */
  halved: boolean;
  failure: Failure | undefined;
}

/** Refusals that are about the body; others (a revoked key) say nothing about the events. */
const bodyProblems = new Set<string>(['malformed_json', 'invalid_request', 'body_too_large']);

/**
 * Sends events. A body that is refused as a whole is halved until the event that spoils it stands
 * alone, so one bad event never blocks the others. A part that failed ends the sending; what was
 * sent before it is settled, and the service counts each id once should it come again.
 */
export async function sendEvents(
  { client, clock }: { client: ServiceClient; clock: Clock },
  events: QueuedEvent[],
  dropped: EventBatch['dropped'],
  keepalive: boolean,
): Promise<Delivery> {
  const delivery: Delivery = {
    settled: [],
    rejections: [],
    rewards: [],
    halved: false,
    failure: undefined,
  };
  const settle = (event: QueuedEvent, rejectedAs?: string): void => {
    delivery.settled.push(event.id);
    if (rejectedAs !== undefined) delivery.rejections.push({ event, code: rejectedAs });
  };

  const send = async (part: QueuedEvent[]): Promise<Failure | undefined> => {
    const sentAt = toJson(new Date(clock.now()).toISOString());
    // The events are JSON already: to parse them and write them again would cost a long task.
    const list = part.map(({ json }) => json).join();
    const report = dropped ? `,"dropped":${toJson(dropped)}` : '';
    const answer = await client.call('/v1/events', isEventBatchResult, {
      body: `{"sent_at":${sentAt},"events":[${list}]${report}}`,
      keepalive,
    });
    if (answer.kind === 'ok') {
      delivery.rewards.push(...answer.body.decisions);
      const results = new Map(answer.body.results.map((result) => [result.id, result]));
      for (const event of part) {
        const { status, code = 'unknown' } = results.get(event.id) ?? {};
        if (status) settle(event, status === 'rejected' ? code : undefined);
      }
      // Only an event that the answer names is settled.
      const complete = part.every(({ id }) => results.has(id));
      return complete ? undefined : { reason: 'incomplete_answer', retryAfterMs: undefined };
    }
    const reason = reasonOf(answer);
    if (answer.kind !== 'refused' || !bodyProblems.has(reason))
      return { reason, retryAfterMs: answer.kind === 'retry' ? answer.retryAfterMs : undefined };
    if (part.length > 1) {
      delivery.halved = true;
      const half = part.length >> 1;
      return (await send(part.slice(0, half))) ?? send(part.slice(half));
    }
    for (const event of part) settle(event, reason);
    return undefined;
  };

  delivery.failure = await send(events);
  return delivery;
}
