import { randomUUID } from 'node:crypto';
import type { AdEvent, Decision, DecisionRequest, EventBatchResult } from '@trueward/protocol/wire';
import { type Clock, systemClock } from '../../src/platform/time.ts';
import type { RunningService } from '../start-service.ts';

/** A response from the service. The caller specifies the body's type. */
export interface ApiResponse<T> {
  status: number;
  headers: Headers;
  body: T;
}

type FilledDecision = Decision & { token: string };

/** Calls the service the way the SDK or a game server does. Event times come from the service's clock. */
export function createClient(
  { clock = systemClock, ...service }: Pick<RunningService, 'url' | 'keys'> & { clock?: Clock },
  environment: 'sandbox' | 'live' = 'sandbox',
) {
  const nowIso = (): string => new Date(clock.nowMs()).toISOString();
  const { publishable, secret } = service.keys[environment];

  const call = async <T>(
    method: string,
    path: string,
    key?: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<T>> => {
    const response = await fetch(service.url + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    };
  };

  const createEvent = (
    decision: Pick<FilledDecision, 'id' | 'token'>,
    type: AdEvent['type'],
    overrides: Partial<AdEvent> = {},
  ): AdEvent => ({
    id: randomUUID(),
    type,
    decision_id: decision.id,
    token: decision.token,
    occurred_at: nowIso(),
    ...overrides,
  });
  const report = (...events: object[]) =>
    call<EventBatchResult>('POST', '/v1/events', publishable, {
      sent_at: nowIso(),
      events,
    });

  return {
    publishable,
    secret,
    call,
    /** Calls the API with the secret key. Throws if the request fails. */
    async manage<T>(method: string, path: string, body?: object): Promise<T> {
      const response = await call<T>(method, path, secret, body);
      if (response.status >= 300)
        throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
      return response.body;
    },
    createEvent,
    report,
    decide: (request: DecisionRequest) =>
      call<FilledDecision>('POST', '/v1/decisions', publishable, request),
    /** Requests an image ad. Its required watch time is 5 s, the shortest in the demo account. */
    async decideImage(userRef: string): Promise<FilledDecision> {
      const request: DecisionRequest = {
        placement: 'revive',
        user_ref: userRef,
        formats: ['image'],
      };
      const { body } = await call<FilledDecision>('POST', '/v1/decisions', publishable, request);
      if (body.status !== 'filled') throw new Error(`Expected an ad, got ${JSON.stringify(body)}`);
      return body;
    },
    /** Reports that the ad has started. */
    reportStart: (decision: FilledDecision) => report(createEvent(decision, 'start')),
    createImpression: (decision: FilledDecision) =>
      createEvent(decision, 'impression', { visible: { ratio: 1, ms: 1_000 }, watched_ms: 1_000 }),
  };
}

export type Client = ReturnType<typeof createClient>;
