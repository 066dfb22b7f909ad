import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { timeoutError } from './link-signal.ts';

export interface BoundedRequest {
  url: string | URL;
  /** Default: GET. */
  method?: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  dispatcher: Dispatcher;
  signal: AbortSignal;
  /** Timeout for the whole request; by default, only `signal` ends it. */
  timeoutMs?: number;
  /** Maximum number of bytes to read from the body. After that, the connection is closed. */
  maxBytes: number;
  /** How many bytes of the body to return. The rest is only read, so that the connection can be reused. Default: all. */
  keepBytes?: number;
}

export interface BoundedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Why the body is incomplete; undefined if it is complete. */
  bodyError?: Error;
}

/** The reason why a body is incomplete that has more than `maxBytes`. */
export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The response has more than ${maxBytes} bytes.`);
    this.name = 'BodyTooLargeError';
  }
}

/**
 * Sends a request and reads a response of limited size. Does not follow redirects. Resolves once the status is known,
 * even if the rest of the response is incomplete.
 *
 * Uses `dispatch()` because undici's `request()` creates a stream and a signal for each response, which costs more than
 * the rest of a webhook delivery: 390 instead of 300 µs of CPU.
 *
 * @throws Error when there is no status: undici's error, a `TimeoutError`, or the reason of `signal`.
 */
export function requestBounded(request: BoundedRequest): Promise<BoundedResponse> {
  const { dispatcher, signal, timeoutMs, maxBytes, keepBytes = maxBytes } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let response: Pick<BoundedResponse, 'status' | 'headers'> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const settle = (error?: Error): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (error) controller?.abort(error);
      if (!response) return reject(error ?? new Error('The response has no status.'));
      const body = Buffer.concat(chunks).subarray(0, keepBytes);
      resolve({ body, ...response, ...(error === undefined ? {} : { bodyError: error }) });
    };
    const onAbort = (): void => settle(signal.reason as Error);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => settle(timeoutError(timeoutMs)), timeoutMs);
    // Every request adds a listener, so having more than ten listeners doesn't mean that there is a leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();

    const { origin, pathname, search } = new URL(request.url);
    dispatcher.dispatch(
      {
        origin,
        path: pathname + search,
        method: request.method ?? 'GET',
        headers: request.headers,
        body: request.body ?? null,
      },
      {
        onRequestStart(started) {
          controller = started;
          // The request timed out while it waited for a connection.
          if (settled) started.abort(new Error('The request was aborted.'));
        },
        onResponseStart(_controller, status, headers) {
          // Informational responses (1xx) precede the actual one.
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
