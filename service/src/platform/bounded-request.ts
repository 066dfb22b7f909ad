import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { onAbort } from './on-abort.ts';

/** A signal that can be aborted directly or by its parent signal. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(): void;
  /** Ends the subscription to the parent and clears the timer. Must be called when the work has settled. */
  release(): void;
}

interface Options {
  /** Aborts with a `TimeoutError` after this time. By default, there is no timeout. */
  timeoutMs?: number;
}

/**
 * Creates a signal that aborts when `parent` does. Replaces `AbortSignal.any`, which leaks about 58 bytes per call on
 * Node 20 for as long as the parent exists.
 */
export function linkSignal(parent: AbortSignal, { timeoutMs }: Options = {}): LinkedSignal {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(timeoutError(timeoutMs)), timeoutMs);
  const unsubscribe = onAbort(parent, follow);
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    release() {
      clearTimeout(timer);
      unsubscribe();
    },
  };
}

/** Creates the error for a request that timed out. */
export const timeoutError = (ms: number): DOMException =>
  new DOMException(`No response within ${ms} ms.`, 'TimeoutError');

export interface BoundedRequest {
  url: string | URL;
  /** Default: GET. */
  method?: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  dispatcher: Dispatcher;
  signal: AbortSignal;
  /** Timeout for the whole request. By default, there is none. */
  timeoutMs?: number;
  /** Maximum number of bytes to read from the body. The connection is closed if the body is larger. */
  maxBytes: number;
  /**
   * Maximum number of bytes to return. The request reads the body up to `maxBytes` to keep the connection reusable, but
   * discards everything after `keepBytes`. Default: `maxBytes`.
   */
  keepBytes?: number;
  /**
   * Called once a connection is available, just before the request is sent. Until then, the server has received
   * nothing.
   */
  onStart?(): void;
}

export interface BoundedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Why the body is incomplete. Undefined if it is complete. */
  bodyError?: Error;
}

/** The `bodyError` for a body larger than `maxBytes`. */
export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The response is larger than ${maxBytes} bytes.`);
    this.name = 'BodyTooLargeError';
  }
}

/**
 * Sends a request and reads a size-limited response. Does not follow redirects. If the request fails after the status
 * has arrived, resolves with the part of the body that was received.
 *
 * Uses undici's `dispatch()`. With `request()`, which creates a stream and a signal per response, a webhook delivery
 * takes 390 µs of CPU time instead of 300 µs.
 *
 * @throws Error when the request fails before the status arrives: undici's error, a `TimeoutError`, or `signal.reason`.
 */
export function requestBounded(request: BoundedRequest): Promise<BoundedResponse> {
  const { dispatcher, signal, timeoutMs, maxBytes, keepBytes = maxBytes } = request;
  return new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(request.url);
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let response: Pick<BoundedResponse, 'status' | 'headers'> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const settle = (error?: Error): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      unsubscribe();
      if (error) controller?.abort(error);
      if (!response) return reject(error ?? new Error('The response has no status.'));
      const body = Buffer.concat(chunks).subarray(0, keepBytes);
      resolve({ body, ...response, ...(error === undefined ? {} : { bodyError: error }) });
    };
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => settle(timeoutError(timeoutMs)), timeoutMs);
    let unsubscribe = (): void => undefined;
    unsubscribe = onAbort(signal, () => settle(signal.reason as Error));
    if (signal.aborted) return;
    dispatcher.dispatch(
      {
        origin,
        path: pathname + search,
        method: request.method ?? 'GET',
        headers: request.headers,
        body: request.body ?? null,
      },
      {
        onRequestStart(requestController) {
          controller = requestController;
          // The request timed out or was aborted while it waited for a connection.
          if (settled) return requestController.abort(new Error('The request was aborted.'));
          request.onStart?.();
        },
        onResponseStart(_controller, status, headers) {
          // Informational responses (1xx) precede the final response.
          if (status >= 200) response = { status, headers };
        },
        onResponseData(_controller, chunk) {
          if (size < keepBytes) chunks.push(chunk);
          size += chunk.length;
          if (size > maxBytes) settle(new BodyTooLargeError(maxBytes));
        },
        onResponseEnd: () => settle(),
        onResponseError: (_controller, error) => settle(error),
      },
    );
  });
}
