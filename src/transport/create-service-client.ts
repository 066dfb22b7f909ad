import type { Decision, EventBatchResult, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { bounded } from '../platform/bounded.ts';
import { classify, hasShape, type Guard } from './classify.ts';
import type { Answer, ServiceClient } from './service-client.ts';

export interface ServiceClientOptions {
  /** Where the service is, without a path: `https://ads.example`. */
  serviceUrl: string;
  publishableKey: string;
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** Whether the browser believes that there is a network. */
  isOnline: () => boolean;
  /** How long a request may take, in milliseconds; a waiting one gets this on top of its wait. */
  timeoutMs: number;
}

interface Call {
  /** Makes it a `POST`. */
  body?: object;
  headers?: Record<string, string>;
  keepalive?: boolean | undefined;
  waitMs?: number;
  signal?: AbortSignal | undefined;
  /** Find out whether a failure at once was a blocked request; costs a request. */
  probe?: boolean;
}

const init = { credentials: 'omit', cache: 'no-store' } as const;

/** A filter list refuses at once; a network needs longer to fail, but for a refused connection. */
const atOnceMs = 1_000;

const isDecision: Guard<Decision> = (body): body is Decision =>
  hasShape(body, { id: '', status: '', placement: '', issued_at: '', expires_at: '' });
const isEventBatchResult: Guard<EventBatchResult> = (body): body is EventBatchResult =>
  hasShape(body, { results: [], decisions: [] });
const isRewardStatus: Guard<RewardStatus> = (body): body is RewardStatus =>
  hasShape(body, { id: '', state: '' });

/** The client of the service's three routes for browsers. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  // A browser's fetch refuses to run as a method of another object.
  const { clock, fetch } = options;
  const base = options.serviceUrl.replace(/\/+$/, '');

  /** Whether a harmless request to the same service gets through. */
  const reachesService = async (outer: AbortSignal | undefined): Promise<boolean> =>
    (await bounded(clock, options.timeoutMs, outer, async (signal) => {
      const { ok } = await fetch(`${base}/healthz`, { ...init, signal });
      return ok;
    })) === true;

  const request = async <T>(path: string, guard: Guard<T>, call: Call): Promise<Answer<T>> => {
    const startedAt = clock.monotonic();
    const timeoutMs = options.timeoutMs + (call.waitMs ?? 0);
    const came = await bounded(clock, timeoutMs, call.signal, async (signal) => {
      const response = await fetch(base + path, {
        ...init,
        method: call.body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${options.publishableKey}`,
          ...(call.body ? { 'content-type': 'application/json' } : {}),
          ...call.headers,
        },
        ...(call.body ? { body: JSON.stringify(call.body) } : {}),
        keepalive: call.keepalive ?? false,
        signal,
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
    if (typeof came === 'object') return classify(came, guard, clock);
    if (came !== 'failed') return { kind: 'unreachable', cause: came };
    const suspicious = call.probe && options.isOnline() && clock.monotonic() - startedAt < atOnceMs;
    const blocked = suspicious && (await reachesService(call.signal));
    return { kind: 'unreachable', cause: blocked ? 'blocked' : 'network' };
  };

  return {
    requestDecision: (body, signal) =>
      request('/v1/decisions', isDecision, { body, signal, probe: true }),
    sendEvents: (body, { keepalive } = {}) =>
      request('/v1/events', isEventBatchResult, { body, keepalive }),
    readReward: (decisionId, token, { waitS = 0, signal } = {}) =>
      request(`/v1/decisions/${encodeURIComponent(decisionId)}?wait_s=${waitS}`, isRewardStatus, {
        headers: { 'decision-token': token },
        waitMs: waitS * 1_000,
        signal,
      }),
  };
}
