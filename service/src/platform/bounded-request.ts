import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { GuardedAgent } from './guarded-agent.ts';
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
  agent: Pick<GuardedAgent, 'request'>;
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
  /** Whether to read the body. If not, the connection is closed. By default, every body is read. */
  wantsBody?(response: Pick<BoundedResponse, 'status' | 'headers'>): boolean;
  /** Called for each part of the body as it arrives. */
  onData?(chunk: Buffer): void;
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
 * @throws Error when the request fails before the status arrives: Node's error, a `BlockedAddressError`, a `TimeoutError`, or `signal.reason`.
 */
export function requestBounded(given: BoundedRequest): Promise<BoundedResponse> {
  const { agent, signal, timeoutMs, maxBytes, keepBytes = maxBytes } = given;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const { method = 'GET', headers } = given;
    const request = agent.request(new URL(given.url), { method, headers });
    let settled = false;
    let response: Pick<BoundedResponse, 'status' | 'headers'> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const settle = (error?: Error): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      unsubscribe();
      if (error) request.destroy();
      if (!response) return reject(error ?? new Error('The response has no status.'));
      const body = Buffer.concat(chunks).subarray(0, keepBytes);
      resolve({ body, ...response, ...(error === undefined ? {} : { bodyError: error }) });
    };
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => settle(timeoutError(timeoutMs)), timeoutMs);
    const unsubscribe = onAbort(signal, () => settle(signal.reason as Error));
    onceConnected(request, () => {
      if (!settled) given.onStart?.();
    });
    request.on('error', (error) => settle(flattenError(error)));
    // The server speaks another protocol from here on. Node closes the connection, and reports neither a response nor an
    // error.
    request.on('upgrade', (message, socket) => {
      socket.destroy();
      settle(new Error(`The server answered with ${message.statusCode}, which was not asked for.`));
    });
    request.on('response', (message) => {
      response = { status: message.statusCode ?? 0, headers: message.headers };
      message.on('error', settle);
      if (given.wantsBody?.(response) === false) {
        settle();
        return void request.destroy();
      }
      message.on('data', (chunk: Buffer) => {
        if (size < keepBytes) chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) return settle(new BodyTooLargeError(maxBytes));
        given.onData?.(chunk);
      });
      message.on('end', () => settle());
    });
    request.end(given.body);
  });
}

/** Calls `callback` once the request has a connection, on which it can be sent. */
function onceConnected(request: ClientRequest, callback: () => void): void {
  request.once('socket', (socket) => {
    if (!socket.connecting && request.reusedSocket) callback();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', callback);
  });
}

/** If a host has several addresses, a failure to connect has one error for each, and no message of its own. */
const flattenError = (error: Error): Error =>
  error instanceof AggregateError ? ((error.errors.at(-1) as Error | undefined) ?? error) : error;
