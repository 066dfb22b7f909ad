import type { EventBatchResult, Problem, RewardStatus } from '../../protocol/wire.ts';

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
  | { kind: 'ok'; body: T }
  | { kind: 'refused'; problem: Pick<Problem, 'code'> & Partial<Problem> }
  | { kind: 'retry'; status: number; retryAfterMs?: number }
  | {
      kind: 'unreachable';
      cause: 'timeout' | 'network' | 'blocked' | 'foreign_answer' | 'aborted';
    };

/** What a request is made of, beside its path. */
export interface Call {
  /** Makes it a `POST`; an object, or its JSON. */
  body?: object | string;
  headers?: Record<string, string>;
  keepalive?: boolean | undefined;
  /** How long the service may let it wait, in milliseconds. */
  waitMs?: number;
  signal?: AbortSignal | undefined;
}

/** Tells whether a parsed body is what the contract promises. */
export type Guard<T> = (body: unknown) => body is T;

/** The requests that a publishable key may make; that for a decision is `requestDecision()`. */
export interface ServiceClient {
  call<T>(path: string, guard: Guard<T>, call: Call): Promise<Answer<T>>;
  /**
   * Sends an `EventBatch`, as JSON. With `keepalive` the request outlives the page; its body is bounded by
   * the browser's 64 KiB quota.
   */
  sendEvents(batch: string, options?: { keepalive?: boolean }): Promise<Answer<EventBatchResult>>;
  /** Waits up to `waitS` seconds (0 to 25) on the service's side for the state to change. */
  readReward(
    decisionId: string,
    token: string,
    options?: { waitS?: number; signal?: AbortSignal },
  ): Promise<Answer<RewardStatus>>;
}
