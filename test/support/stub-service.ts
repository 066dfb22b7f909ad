import type { AdEvent, Decision, DecisionRequest, EventBatch } from '../../protocol/wire.ts';
import { keyChecksum } from '../../src/platform/key-format.ts';

/** A stub of the service behind a `fetch` function. It responds immediately. */
export interface StubService {
  fetch: typeof fetch;
  /** Returns fields that override the default decision, or a complete `Response`. */
  respond: (request: DecisionRequest) => Partial<Decision> | Response;
  /** Every received event. */
  events: AdEvent[];
  /** The placement that each ad request asked for, in order. */
  requested: string[];
}

const reward = { type: 'coins', amount: 50 };

/** Creates a decision filled with an image that must be watched for `minWatchMs`. */
export const picture = (minWatchMs: number, file = 'picture.png'): Partial<Decision> => ({
  creative: {
    id: 'crv_01jabcdefghjkmnpqrstvwxyz0',
    alt: 'Meadow, a quiet game about sheep',
    media: {
      format: 'image',
      files: [{ url: mediaUrl(file), mime: 'image/png', width: 320, height: 180 }],
    },
  },
  min_watch_ms: minWatchMs,
  close_after_ms: 0,
});

/** How Phaser's button offers the stub service's ads. */
export const readyLabel = 'Watch an ad (\u2068+50 coins\u2069)';

const mediaUrl = (file: string): string => new URL(`../media/${file}`, import.meta.url).href;

const createHex = (length: number): string =>
  crypto.randomUUID().replaceAll('-', '').slice(0, length);

/** Called when a test creates a key for a new game. */
let announceGame = (): void => {};
export const onNewGame = (listener: () => void): void => {
  announceGame = listener;
};

/** Creates a new key. Each game has its own storage on the device, so tests with new games don't affect each other. */
export function createPublishableKey(gameId?: string): string {
  announceGame();
  return makeKey(gameId);
}

/** Like {@link createPublishableKey}, but the page gets no second instance. For tests that count what a page does. */
export function makeKey(gameId = createHex(10)): string {
  const body = `pk_sandbox_${gameId}_${createHex(20)}`;
  return body + keyChecksum(body);
}

export function createStubService(): StubService {
  const service: StubService = {
    respond: () => picture(200),
    events: [],
    requested: [],
    async fetch(input, init) {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const body: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : '{}');
      if (pathname === '/v1/decisions') return decide(service, body as DecisionRequest);
      if (pathname === '/v1/events') return recordEvents(service, body as EventBatch);
      return json({ id: pathname.split('/').at(-1), state: 'pending' });
    },
  };
  return service;
}

const json = (body: object): Response => Response.json(body);

function decide(service: StubService, request: DecisionRequest): Response {
  const { placement } = request;
  service.requested.push(placement);
  const response = service.respond(request);
  if (response instanceof Response) return response;
  return json({
    id: `dec_${String(service.requested.length).padStart(26, '0')}`,
    status: 'filled',
    placement,
    format: 'rewarded',
    reward,
    token: 'token',
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    ...response,
  } satisfies Decision);
}

/** Records the events and marks the reward as earned for each completed ad. */
function recordEvents(service: StubService, { events }: EventBatch): Response {
  service.events.push(...events);
  const ids = new Set(events.map(({ decision_id: id }) => id));
  const watched = (id: string): boolean =>
    service.events.some((event) => event.decision_id === id && event.type === 'complete');
  return json({
    results: events.map(({ id }) => ({ id, status: 'accepted' })),
    decisions: [...ids].map((id) =>
      watched(id) ? { id, state: 'earned', reward } : { id, state: 'none' },
    ),
  });
}
