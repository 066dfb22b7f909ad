import type {
  Decision,
  DecisionRequest,
  EventBatch,
  EventBatchResult,
  Problem,
  RewardStatus,
} from '../../protocol/wire.ts';

/**
 * The answer to one request, sorted by what the caller can do about it. A request never rejects.
 *
 * - `ok`: the service answered as the contract says.
 * - `refused`: the service understood and said no; sending the same again is of no use.
 * - `retry`: the service is overloaded or failed (408, 425, 429, 5xx); `retryAfterMs` when it said so.
 * - `unreachable`: no answer of ours came back; `cause` tells a time-out, a broken network, a request
 *   that was blocked in the browser, and an answer that is not ours (a captive portal).
 */
export type Answer<T> =
  | { kind: 'ok'; body: T; clockSkewMs?: number }
  | { kind: 'refused'; problem: Problem }
  | { kind: 'retry'; status: number; retryAfterMs?: number }
  | {
      kind: 'unreachable';
      cause: 'timeout' | 'network' | 'blocked' | 'foreign_answer' | 'aborted';
    };

/** The three requests that a publishable key may make. */
export interface ServiceClient {
  requestDecision(request: DecisionRequest, signal?: AbortSignal): Promise<Answer<Decision>>;
  /** With `keepalive` the request outlives the page; its body is bounded by the browser's 64 KiB quota. */
  sendEvents(
    batch: EventBatch,
    options?: { keepalive?: boolean },
  ): Promise<Answer<EventBatchResult>>;
  /** Waits up to `waitS` seconds (0 to 25) on the service's side for the state to change. */
  readReward(
    decisionId: string,
    token: string,
    options?: { waitS?: number; signal?: AbortSignal },
  ): Promise<Answer<RewardStatus>>;
}
