import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { ProblemError, toProblemResponse } from './problem.ts';

/**
 * Longer than a load balancer's idle timeout, which is usually 60 s. Otherwise, the load balancer might reuse a
 * connection that this process is closing.
 */
const keepAliveMs = 72_000;
/** A client must have sent its headers by then, counted from when it connected or sent its first byte. */
const headersMs = 10_000;
/** A client must have sent its whole request by then. Enough for 20 MB at 1.4 Mbit/s. */
const requestMs = 120_000;
/**
 * A connection is closed if no byte is sent or received for so long. Otherwise, clients that request a large file and
 * don't read it could take all connections. Waiting requests are answered within 25 s.
 */
const stalledMs = 120_000;
/** How often the server looks for clients that are too slow. */
const checkMs = 2_000;
/**
 * More connections are closed as soon as they are accepted, and all connections that wait for their next request with
 * them, so that one client can't keep others out by holding connections. Waiting requests alone may take 10,000.
 */
const maxConnections = 16_384;

/**
 * Creates the HTTP server. Requests that do not reach the router are answered like all others: with a problem document
 * and a `Request-Id`.
 *
 * @param isStopping whether the process is stopping, so that it accepts no more requests
 * @param limits for tests. `stalledMs`: after how long a connection is closed on which nothing moves
 */
export function createHttpServer(
  listener: RequestListener,
  isStopping: () => boolean,
  limits = { stalledMs, maxConnections },
): Server {
  const handle: RequestListener = (request, response) => {
    // The client has already reset the connection, so it has no address and gets no answer.
    if (request.socket.remoteAddress === undefined) return void request.destroy();
    if (isStopping()) return sendBelowRouter(response, stoppingProblem());
    const ambiguous = findAmbiguousHeader(request);
    if (ambiguous !== undefined) return sendBelowRouter(response, ambiguityProblem(ambiguous));
    listener(request, response);
  };
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      // Checked below: Node would answer without a problem document, and accept several.
      requireHostHeader: false,
    },
    handle,
  );
  // Node would ask for the body at once; `addContinue` asks for it when the request has passed all checks of its headers.
  server.on('checkContinue', handle);
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.stalledMs);
  makeRoomWhenFull(server);
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    sendBelowRouter(
      response,
      new ProblemError('expectation_failed', 'The service supports only Expect: 100-continue.'),
    ),
  );
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    endSocket(socket, new ProblemError('method_not_allowed', 'The service is not a proxy.')),
  );
  return server;
}

/** Closes connections that wait for their next request when there are too many, at most every {@link checkMs}. */
function makeRoomWhenFull(server: Server): void {
  let hasMadeRoom = false;
  server.on('drop', () => {
    if (hasMadeRoom) return;
    hasMadeRoom = true;
    server.closeIdleConnections();
    setTimeout(() => (hasMadeRoom = false), checkMs).unref();
  });
}

const stoppingProblem = (): ProblemError =>
  new ProblemError('unavailable', 'This process is shutting down.', { retryAfterS: 1 });

/** Headers of which a proxy may have read another one of several. */
const singleHeaders = ['host', 'content-type', 'authorization'] as const;
type SingleHeader = (typeof singleHeaders)[number];

/** Returns the header that a request has several times, or the `host` that it lacks: HTTP/1.1 requires one. */
function findAmbiguousHeader({
  httpVersion,
  headers,
  rawHeaders,
}: IncomingMessage): SingleHeader | undefined {
  const counts = { host: 0, 'content-type': 0, authorization: 0 };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at] ?? '';
    // Other lengths are other headers.
    if (length !== 4 && length !== 12 && length !== 13) continue;
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (name in counts) counts[name as SingleHeader] += 1;
  }
  if (headers.host === undefined && httpVersion === '1.1') return 'host';
  return singleHeaders.find((name) => counts[name] > 1);
}

const ambiguityProblem = (header: SingleHeader): ProblemError =>
  new ProblemError('malformed_request', `The request must have one header ${header}.`);

function sendBelowRouter(response: ServerResponse, problem: ProblemError): void {
  const { status, headers, body } = serialize(problem);
  response.writeHead(status, headers).end(body);
}

/** Answers a request that the HTTP parser rejects, or that takes too long. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy();
  endSocket(socket, describeClientError(error.code));
}

function describeClientError(code = ''): ProblemError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ProblemError(
        'request_timeout',
        'The request did not arrive in time; send it again.',
      );
    case 'HPE_HEADER_OVERFLOW':
      return new ProblemError('headers_too_large', 'The headers are larger than 16 KiB.');
    default:
      return new ProblemError('malformed_request', 'The request is not valid HTTP.');
  }
}

function endSocket(socket: Duplex, problem: ProblemError): void {
  const { status, headers, body } = serialize(problem);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // A client that doesn't read the response must not keep the connection open.
  socket.once('finish', () => socket.destroy());
}

function serialize(problem: ProblemError) {
  const requestId = randomUUID();
  const { document, headers } = toProblemResponse(problem, requestId);
  const body = JSON.stringify(document);
  return {
    status: document.status,
    headers: {
      ...headers,
      'request-id': requestId,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    },
    body,
  };
}
