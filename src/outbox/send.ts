import type { EventBatch, EventBatchResult, RewardStatus } from '../../protocol/wire.ts';
import { native } from '../platform/native.ts';
import type { Clock } from '../platform/clock.ts';
import { isRewardStatus } from '../transport/read-reward.ts';
import {
  type Guard,
  hasShape,
  toReasonCode,
  type ServiceClient,
  toJson,
} from '../transport/service-client.ts';
import type { QueuedEvent } from './event-store.ts';

/** The result of sending events. */
export interface SendResult {
  /** Ids of acknowledged and rejected events, which don't need to be sent again. */
  settled: Set<string>;
  /** One error code per event that the service will never accept. */
  rejections: string[];
  rewards: RewardStatus[];
  /** Why the remaining events have to be sent again. */
  failure: Failure | undefined;
}

export interface Failure {
  reason: string;
  retryAfterMs: number | undefined;
}

const isEventBatchResult: Guard<EventBatchResult> = (body): body is EventBatchResult =>
  hasShape(body, { results: [], decisions: [] });

/**
 * Problem codes for rejections caused by the request body. Other rejections, such as for a revoked key, don't mean that
 * the events are invalid.
 */
const bodyProblems = new Set<string>(['malformed_json', 'invalid_request', 'body_too_large']);

/**
 * Sends events to the service. If a request is rejected because of its body, its events are split in half and sent
 * again, until the invalid event is isolated and no longer blocks the others. Stops at the first failure. Events sent
 * before the failure remain settled. The service counts each event id once, even if it is sent again.
 */
export async function sendEvents(
  { client, clock }: { client: ServiceClient; clock: Clock },
  events: QueuedEvent[],
  dropped: NonNullable<EventBatch['dropped']>,
  keepalive: boolean,
): Promise<SendResult> {
  const result: SendResult = {
    settled: new Set(),
    rejections: [],
    rewards: [],
    failure: undefined,
  };
  const settle = ({ id }: QueuedEvent, rejection?: string): void => {
    result.settled.add(id);
    if (rejection !== undefined) result.rejections.push(rejection);
  };
  const droppedField = Object.keys(dropped).length > 0 ? `,"dropped":${toJson(dropped)}` : '';
  const unsentParts = [events];
  for (let part = unsentParts.pop(); part && !result.failure; part = unsentParts.pop()) {
    const sentAt = toJson(new native.Date(clock.now()).toISOString());
    // Concatenates the events' JSON. Parsing and reserializing it would block the main thread for too long.
    const list = part.map(({ json }) => json).join();
    const response = await client.call('/v1/events', isEventBatchResult, {
      body: `{"sent_at":${sentAt},"events":[${list}]${droppedField}}`,
      keepalive,
    });
    if (response.kind === 'ok') {
      result.rewards.push(...response.body.decisions.filter(isRewardStatus));
      const results = new Map(
        response.body.results.map((eventResult) => [eventResult.id, eventResult]),
      );
      for (const event of part) {
        const { status, code = 'unknown' } = results.get(event.id) ?? {};
        if (status) settle(event, status === 'rejected' ? code : undefined);
        // Events that are missing from the response are not settled.
        else result.failure = { reason: 'incomplete_response', retryAfterMs: undefined };
      }
      continue;
    }
    const reason = toReasonCode(response);
    const [first] = part;
    if (response.kind !== 'refused' || !bodyProblems.has(reason)) {
      const retryAfterMs = response.kind === 'retry' ? response.retryAfterMs : undefined;
      result.failure = { reason, retryAfterMs };
    } else if (part.length > 1) {
      const half = part.length >> 1;
      unsentParts.push(part.slice(half), part.slice(0, half));
    } else if (first) settle(first, reason);
  }
  return result;
}
