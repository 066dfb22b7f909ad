import type { AdEvent, EventBatch, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { reasonOf } from '../transport/classify.ts';
import type { ServiceClient } from '../transport/service-client.ts';

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
  rejections: { event: AdEvent; code: string }[];
  rewards: RewardStatus[];
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
  events: AdEvent[],
  dropped: EventBatch['dropped'],
  keepalive: boolean,
): Promise<Delivery> {
  const delivery: Delivery = { settled: [], rejections: [], rewards: [], failure: undefined };
  const settle = (event: AdEvent, rejectedAs?: string): void => {
    delivery.settled.push(event.id);
    if (rejectedAs !== undefined) delivery.rejections.push({ event, code: rejectedAs });
  };

  const send = async (part: AdEvent[]): Promise<Failure | undefined> => {
    const sentAt = new Date(clock.now()).toISOString();
    const body = { sent_at: sentAt, events: part, ...(dropped && { dropped }) };
    const answer = await client.sendEvents(body, { keepalive });
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
      const half = part.length >> 1;
      return (await send(part.slice(0, half))) ?? send(part.slice(half));
    }
    for (const event of part) settle(event, reason);
    return undefined;
  };

  delivery.failure = await send(events);
  return delivery;
}
