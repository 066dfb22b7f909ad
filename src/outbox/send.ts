import type { EventBatch, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { toJson } from '../platform/json.ts';
import { reasonOf } from '../transport/classify.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import type { QueuedEvent } from './batch.ts';

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
    const answer = await client.sendEvents(`{"sent_at":${sentAt},"events":[${list}]${report}}`, {
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
