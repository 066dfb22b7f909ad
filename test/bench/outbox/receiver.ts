import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { EventBatch, EventBatchResult } from '../../../protocol/wire.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';

/** How the receiver handles requests. */
export interface Behavior {
  /** Delay before each response. */
  latencyMs: number;
  /**
   * 1-based sequence numbers of the requests whose responses are dropped. The requests themselves are counted.
   */
  lostResponses: number[];
}

/** A stub service for all contenders. It also serves the page. */
export interface Receiver {
  origin: string;
  /** Starts counting another run's events from zero. */
  begin(run: string, messageId: string | undefined, behavior?: Partial<Behavior>): Deliveries;
  close(): Promise<void>;
}

/** Served files, keyed by path. */
export type Files = Map<string, string>;

// In cross-origin isolated pages, `performance.now()` has a resolution of 5 microseconds instead of 100.
const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cache-control': 'no-store',
};

const html =
  '<!doctype html><meta charset="utf-8"><title>bench</title><script src="/bench.js"></script>';

const rudderstackConfig = JSON.stringify({
  source: {
    id: 'bench',
    name: 'bench',
    writeKey: 'bench',
    enabled: true,
    workspaceId: 'bench',
    config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
    destinations: [],
    connections: [],
    dataplanes: {},
  },
  updatedAt: '2026-01-01T00:00:00Z',
  consentManagementMetadata: { resolutionStrategies: [] },
});

/** Starts the receiver on a free port on this machine. */
export async function startReceiver(scripts: Files): Promise<Receiver> {
  let deliveries = createDeliveries('none', undefined);
  let behavior: Behavior = { latencyMs: 0, lostResponses: [] };

  const collect = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [currentDeliveries, { latencyMs, lostResponses }] = [deliveries, behavior];
    const number = currentDeliveries.addRequest();
    const body = await readBody(request);
    currentDeliveries.add(body);
    if (lostResponses.includes(number)) {
      request.socket.destroy();
      return;
    }
    await sleep(latencyMs);
    response.writeHead(200, { 'content-type': 'application/json' }).end(createResponse(body));
  };

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const script = scripts.get(pathname);
    if (pathname.startsWith('/collect/'))
      // A killed browser aborts its requests. Only complete requests are counted.
      collect(request, response).catch(() => response.destroy());
    else if (script !== undefined)
      response.writeHead(200, { 'content-type': 'text/javascript', ...isolation }).end(script);
    else if (pathname.startsWith('/rudderstack-config/'))
      response.writeHead(200, { 'content-type': 'application/json' }).end(rudderstackConfig);
    else if (pathname === '/')
      response.writeHead(200, { 'content-type': 'text/html', ...isolation }).end(html);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    origin: `http://127.0.0.1:${port}`,
    begin(run, messageId, changes = {}) {
      deliveries = createDeliveries(run, messageId);
      behavior = { latencyMs: 20, lostResponses: [], ...changes };
      return deliveries;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  return (isGzip ? gunzipSync(body) : body).toString('utf8');
}

/**
 * Creates a response that every contender accepts. Our outbox needs a result for each event. The others check the
 * status or these fields.
 */
function createResponse(body: string): string {
  const isOurs = body.startsWith('{"sent_at"');
  if (!isOurs) return JSON.stringify({ code: 200, status: 1, success: true });
  const { events } = JSON.parse(body) as EventBatch;
  const response: EventBatchResult = {
    results: events.map(({ id }) => ({ id, status: 'accepted' })),
    decisions: [],
  };
  return JSON.stringify(response);
}
