import type { Problem } from '../../protocol/wire.ts';
import { bounded, type Clock } from '../platform/clock.ts';
import { toJson } from '../platform/json.ts';

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
  /** Turns the request into a `POST`: an object, or its JSON. */
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

const longestMs = 3_600_000;

/**
 * Reads a `Retry-After` header (RFC 9110 section 10.2.3: whole seconds or an HTTP date) as
 * milliseconds from `nowMs`, from 0 to one hour. Undefined when it is missing or no such value.
 */
export const parseRetryAfter = (value: string | null, nowMs: number): number | undefined => {
  const text = value?.trim() ?? '';
  // `Date.parse` also takes numbers and many other texts; an HTTP date begins with a day's name.
  const delayMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2,8},? /.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), longestMs);
};

/**
 * Whether `value` is an object whose named members have the type of these examples; an array is one
 * of objects.
 */
export const hasShape = (value: unknown, shape: Record<string, unknown>): boolean =>
  value instanceof Object &&
  Object.entries(shape).every(([name, example]) => {
    const member = (value as Record<string, unknown>)[name];
    return Array.isArray(example)
      ? Array.isArray(member) && member.every((item) => item instanceof Object)
      : typeof member === typeof example;
  });

const isProblem = (body: unknown): body is Problem => hasShape(body, { code: '', status: 0 });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so not ours: the caller sees that by the missing shape.
    return undefined;
  }
};

/** Sorts an answer that came over the network. A captive portal says 200 with a page of its own. */
export function classify<T>(
  response: { status: number; headers: Headers; text: string },
  isExpected: Guard<T>,
  clock: Clock,
): Answer<T> {
  const { status, headers } = response;
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), clock.now());
    return { kind: 'retry', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  const body = parse(response.text);
  if (status >= 200 && status < 300 && isExpected(body)) return { kind: 'ok', body };
  if (status >= 400 && isProblem(body)) return { kind: 'refused', problem: body };
  // A proxy before the service may refuse a large body without knowing our problem documents.
  if (status === 413) return { kind: 'refused', problem: { code: 'body_too_large' } };
  return { kind: 'unreachable', cause: 'foreign_answer' };
}

/** One word for why there is no body, for people and diagnostics. */
export const reasonOf = (answer: Exclude<Answer<unknown>, { kind: 'ok' }>): string =>
  answer.kind === 'refused'
    ? answer.problem.code
    : answer.kind === 'retry'
      ? `http_${answer.status}`
      : answer.cause;
