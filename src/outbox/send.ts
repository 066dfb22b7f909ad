import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { Answer, ServiceClient } from '../transport/service-client.ts';

/** An event that the service will never take. */
export interface Rejection {
  event: AdEvent;
  code: string;
  /** Whether the service named this event, or refused a body that held nothing else. */
  by: 'event' | 'body';
}

/** What became of a batch. `failure` is there when some of it has to be sent again. */
export interface Delivery {
  settled: string[];
  rejections: Rejection[];
  rewards: RewardStatus[];
  failure?: { reason: string; retryAfterMs?: number };
}

/** Refusals that are about the body; others (a revoked key) say nothing about the events. */
const bodyProblems = new Set<string>(['malformed_json', 'invalid_request', 'body_too_large']);

const reasonOf = (answer: Exclude<Answer<unknown>, { kind: 'ok' }>): string =>
  answer.kind === 'refused'
    ? answer.problem.code
    : answer.kind === 'retry'
      ? `http_${answer.status}`
      : answer.cause;

/**
 * Sends events. A body that is refused as a whole is halved until the event that spoils it stands
 * alone, so one bad event never blocks the others. A part that failed ends the sending; what was
 * sent before it is settled, and the service counts each id once should it come again.
 */
export async function sendEvents(
  client: ServiceClient,
  clock: Clock,
  events: AdEvent[],
  keepalive: boolean,
): Promise<Delivery> {
  const delivery: Delivery = { settled: [], rejections: [], rewards: [] };
  const parts = [events];
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const sentAt = new Date(clock.now()).toISOString();
    const answer = await client.sendEvents({ sent_at: sentAt, events: part }, { keepalive });
    if (answer.kind === 'ok') {
      settle(delivery, part, answer.body.results);
      delivery.rewards.push(...answer.body.decisions);
      if (delivery.failure) return delivery;
    } else if (answer.kind === 'refused' && bodyProblems.has(answer.problem.code)) {
      const [only] = part;
      if (part.length === 1 && only !== undefined) {
        delivery.rejections.push({ event: only, code: answer.problem.code, by: 'body' });
        delivery.settled.push(only.id);
      } else {
        const half = Math.ceil(part.length / 2);
        parts.unshift(part.slice(0, half), part.slice(half));
      }
    } else {
      const retryAfterMs = answer.kind === 'retry' ? answer.retryAfterMs : undefined;
      delivery.failure = {
        reason: reasonOf(answer),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
      return delivery;
    }
  }
  return delivery;
}

/** Only an event that the answer names is settled; an answer that forgot one is a failure. */
function settle(
  delivery: Delivery,
  events: AdEvent[],
  results: { id: string; status: string; code?: string }[],
): void {
  const byId = new Map(results.map((result) => [result.id, result]));
  for (const event of events) {
    const result = byId.get(event.id);
    if (result === undefined) {
      delivery.failure = { reason: 'incomplete_answer' };
      continue;
    }
    delivery.settled.push(event.id);
    if (result.status === 'rejected')
      delivery.rejections.push({ event, code: result.code ?? 'unknown', by: 'event' });
  }
}
