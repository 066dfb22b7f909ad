import type { Problem } from '../../protocol/wire.ts';
import { bounded } from '../platform/bounded.ts';
import type { Clock } from '../platform/clock.ts';
import { toJson } from '../platform/json.ts';
import { classify } from './classify.ts';

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

/** Sends requests to the service with the publishable key. */
export interface ServiceClient {
  call<T>(path: string, guard: Guard<T>, call: Call): Promise<Answer<T>>;
}

export interface ServiceClientOptions {
  /** Where the service is, without a path: `https://ads.example`. */
  serviceUrl: string;
  publishableKey: string;
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** How long a request may take, in milliseconds; a waiting one gets this on top of its wait. */
  timeoutMs: number;
}

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  // A browser's fetch refuses to run as a method of another object.
  const { clock, fetch, publishableKey, serviceUrl, timeoutMs } = options;

  return {
    async call(path, guard, { body, headers, keepalive = false, signal: outer, waitMs = 0 }) {
      const came = await bounded(clock, timeoutMs + waitMs, outer, async (signal) => {
        const response = await fetch(serviceUrl + path, {
          method: body ? 'POST' : 'GET',
          headers: {
            authorization: `Bearer ${publishableKey}`,
            ...(body && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body && { body: typeof body === 'string' ? body : toJson(body) }),
          credentials: 'omit',
          cache: 'no-store',
          keepalive,
          signal,
        });
        return { status: response.status, headers: response.headers, text: await response.text() };
      });
      if (typeof came === 'object') return classify(came, guard, clock);
      return { kind: 'unreachable', cause: came === 'failed' ? 'network' : came };
    },
  };
}
