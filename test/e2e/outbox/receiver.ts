import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventBatch, EventBatchResult } from '../../../protocol/wire.ts';

export interface Exchange {
  batch: EventBatch;
  request: IncomingMessage;
  response: ServerResponse;
  /** Counts the events the way the service does. Returns a result for each event. */
  accept(): EventBatchResult;
}

/** A stub service that counts each event id once. It can fail in configurable ways. */
export interface Receiver {
  url: string;
  /** Number of times each event arrived, keyed by event id. */
  arrivals: Map<string, number>;
  /** Ids that a page reported as stored. */
  resolved: Set<string>;
  requests: { atMs: number; batch: EventBatch }[];
  /** If set, handles event requests instead of the default handler. */
  fault: ((exchange: Exchange) => void) | undefined;
  /** Resolves when a page has stopped at its `stopAt` step. */
  waitUntilPageStops(): Promise<void>;
  /** Clears all recorded data and the fault. */
  reset(): void;
  close(): Promise<void>;
}

const sendJson = (response: ServerResponse, body: unknown): void => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
};

/** Starts the stub service. It also serves a page with this script at `/`. */
export async function startReceiver(script: string): Promise<Receiver> {
  let onPageStopped = (): void => undefined;
  const receiver: Receiver = {
    url: '',
    arrivals: new Map(),
    resolved: new Set(),
    requests: [],
    fault: undefined,
    waitUntilPageStops: () =>
      new Promise((resolve) => {
        onPageStopped = resolve;
      }),
    reset() {
      receiver.arrivals.clear();
      receiver.resolved.clear();
      receiver.requests.length = 0;
      receiver.fault = undefined;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  const handleEvents = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const batch = JSON.parse(body) as EventBatch;
    receiver.requests.push({ atMs: performance.now(), batch });
    const accept = (): EventBatchResult => ({
      results: batch.events.map(({ id }) => {
        const previousCount = receiver.arrivals.get(id) ?? 0;
        receiver.arrivals.set(id, previousCount + 1);
        return { id, status: previousCount > 0 ? 'duplicate' : 'accepted' };
      }),
      decisions: [],
    });
    if (receiver.fault) receiver.fault({ batch, request, response, accept });
    else sendJson(response, accept());
  };

  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () => {
      switch (request.url?.split('?')[0]) {
        case '/v1/events':
          return handleEvents(request, response, body);
        case '/resolved':
          receiver.resolved.add(body);
          return response.end();
        case '/stopped':
          response.end();
          return onPageStopped();
        case '/script.js':
          return response.setHeader('content-type', 'text/javascript').end(script);
        default:
          return response
            .setHeader('content-type', 'text/html')
            .end('<!doctype html><title>Outbox</title><script src="/script.js"></script>');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}
