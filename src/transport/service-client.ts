import type { Problem } from '../../protocol/wire.ts';
import { runWithTimeout, type Clock } from '../platform/clock.ts';
import { copyOwn } from '../platform/guard.ts';
import { newRandomId } from '../platform/ids.ts';
import { native } from '../platform/native.ts';

/**
 * The result of a request, classified by what the caller can do about it. A request never rejects.
 *
 * - `ok`: the response matches the wire contract.
 * - `refused`: the service rejected the request, and a retry would not help.
 * - `retry`: the service is overloaded or failed (408, 425, 429, 5xx). `retryAfterMs` is set if the service sent
 *   `Retry-After`.
 * - `unreachable`: the service did not respond. The `cause` may be a timeout, a network failure, a request that was
 *   blocked in the browser, or a response from something other than the service, such as a captive portal.
 */
export type ServiceResult<T> =
  | { kind: 'ok'; body: T }
  | { kind: 'refused'; problem: Pick<Problem, 'code'> & Partial<Problem> }
  | { kind: 'retry'; status: number; retryAfterMs?: number }
  | {
      kind: 'unreachable';
      cause: 'timeout' | 'network' | 'blocked' | 'unexpected_response' | 'aborted';
    };

/** A request, apart from its path. */
export interface Call {
  /** An object, or its JSON. A request with a body is a `POST`. */
  body?: object | string;
  headers?: Record<string, string>;
  keepalive?: boolean | undefined;
  /** How long the service may hold the response, in milliseconds. */
  waitMs?: number;
  signal?: AbortSignal | undefined;
}

/** Whether a parsed response body matches the wire contract. */
export type Guard<T> = (body: unknown) => body is T;

/** Sends requests to the service, authenticated with the publishable key. */
export interface ServiceClient {
  call<T>(path: string, guard: Guard<T>, call: Call): Promise<ServiceResult<T>>;
}

export interface ServiceClientOptions {
  /** The service's origin, such as `https://play.example`. */
  serviceUrl: string;
  publishableKey: string;
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** Request timeout in milliseconds, to which `waitMs` is added. */
  timeoutMs: number;
}

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  // A browser's `fetch` throws if it is called as a method of another object.
  const { clock, fetch, publishableKey, serviceUrl, timeoutMs } = options;

  return {
    async call(path, guard, given) {
      const options: Call = copyOwn(given);
      const { body, headers, keepalive = false, signal: callerSignal, waitMs = 0 } = options;
      const result = await runWithTimeout(
        clock,
        timeoutMs + waitMs,
        callerSignal,
        async (signal) => {
          const response = await fetch(serviceUrl + (body ? path : withNonce(path)), {
            method: body ? 'POST' : 'GET',
            headers: {
              authorization: `Bearer ${publishableKey}`,
              ...(body && { 'content-type': 'application/json' }),
              ...headers,
            },
            ...(body && { body: typeof body === 'string' ? body : toJson(body) }),
            credentials: 'omit',
            cache: 'no-store',
            // Another server must not get the player's data, and would not get the key.
            redirect: 'manual',
            keepalive,
            signal,
          });
          return {
            status: response.status,
            headers: response.headers,
            text: await response.text(),
          };
        },
      );
      if (typeof result === 'object') return classify(result, guard, clock);
      return { kind: 'unreachable', cause: result === 'failed' ? 'network' : result };
    },
  };
}

/**
 * Makes a URL unique. A game's service worker may answer any `GET` request from its own cache, whatever the request's
 * cache mode.
 */
export const withNonce = (url: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}nonce=${newRandomId()}`;

/**
 * Serializes plain data like `JSON.stringify()`, but does not call `toJSON()`. Prototype.js up to 1.6 adds a `toJSON()`
 * method to all arrays that turns them into strings. Undefined properties are omitted.
 */
export const toJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join()}}`;
};

/** Maximum delay that the service can request with `Retry-After`, in milliseconds. */
const maxRetryAfterMs = 3_600_000;

/**
 * Parses a `Retry-After` header (RFC 9110 section 10.2.3: whole seconds or an HTTP date). Returns the delay from
 * `nowMs` in milliseconds, clamped to between 0 and one hour. Returns undefined if the header is missing or invalid.
 */
export const parseRetryAfter = (value: string | null, nowMs: number): number | undefined => {
  const text = value?.trim() ?? '';
  // `Date.parse` accepts many other formats too, so require the weekday name that an HTTP date starts with.
  const delayMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2,8},? /.test(text)
      ? native.Date.parse(text) - nowMs
      : Number.NaN;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), maxRetryAfterMs);
};

/**
 * Whether `value` is an object whose members have the same types as the examples in `shape`. Arrays may contain only
 * objects.
 */
export const hasShape = (value: unknown, shape: Record<string, unknown>): boolean =>
  value instanceof Object &&
  Object.entries(shape).every(([name, example]) => {
    const member = (value as Record<string, unknown>)[name];
    return Array.isArray(example)
      ? Array.isArray(member) && member.every((item) => item instanceof Object)
      : typeof member === typeof example && member !== null;
  });

const isProblem = (body: unknown): body is Problem => hasShape(body, { code: '', status: 0 });

/** Parses JSON. Returns undefined if it is malformed. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Classifies a response. The status alone is not enough, because a captive portal responds with 200 and a page of its
 * own.
 */
export function classify<T>(
  response: { status: number; headers: Headers; text: string },
  isExpected: Guard<T>,
  clock: Clock,
): ServiceResult<T> {
  const { status, headers } = response;
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), clock.now());
    return { kind: 'retry', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  const body = parseJson(response.text);
  if (status >= 200 && status < 300 && isExpected(body)) return { kind: 'ok', body };
  if (status >= 400 && isProblem(body)) return { kind: 'refused', problem: body };
  // A proxy in front of the service rejects a large body without a problem document.
  if (status === 413) return { kind: 'refused', problem: { code: 'body_too_large' } };
  return { kind: 'unreachable', cause: 'unexpected_response' };
}

/** Returns a short code for the failure, for diagnostics. */
export const toReasonCode = (response: Exclude<ServiceResult<unknown>, { kind: 'ok' }>): string =>
  response.kind === 'refused'
    ? response.problem.code
    : response.kind === 'retry'
      ? `http_${response.status}`
      : response.cause;
