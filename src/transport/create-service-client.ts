import type { EventBatchResult, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { bounded } from '../platform/bounded.ts';
import { toJson } from '../platform/json.ts';
import { classify, hasShape } from './classify.ts';
import type { Answer, Call, Guard, ServiceClient } from './service-client.ts';

export interface ServiceClientOptions {
  /** Where the service is, without a path: `https://ads.example`. */
  serviceUrl: string;
  publishableKey: string;
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** How long a request may take, in milliseconds; a waiting one gets this on top of its wait. */
  timeoutMs: number;
}

const isEventBatchResult: Guard<EventBatchResult> = (body): body is EventBatchResult =>
  hasShape(body, { results: [], decisions: [] });
const isRewardStatus: Guard<RewardStatus> = (body): body is RewardStatus =>
  hasShape(body, { id: '', state: '' });

/** The client of the service's routes for browsers. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  // A browser's fetch refuses to run as a method of another object.
  const { clock, fetch, publishableKey, serviceUrl, timeoutMs } = options;

  const call = async <T>(
    path: string,
    guard: Guard<T>,
    { body, headers, keepalive = false, signal: outer, waitMs = 0 }: Call,
  ): Promise<Answer<T>> => {
    const came = await bounded(clock, timeoutMs + waitMs, outer, async (signal) => {
      const response = await fetch(serviceUrl + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${publishableKey}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: typeof body === 'string' ? body : toJson(body) }),
        credentials: 'omit',
        cache: 'no-store',
        keepalive,
        signal,
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    });
    if (typeof came === 'object') return classify(came, guard, clock);
    return { kind: 'unreachable', cause: came === 'failed' ? 'network' : came };
  };

  return {
    call,
    sendEvents: (body, options) => call('/v1/events', isEventBatchResult, { body, ...options }),
    readReward: (decisionId, token, { waitS = 0, signal } = {}) =>
      call(`/v1/decisions/${encodeURIComponent(decisionId)}?wait_s=${waitS}`, isRewardStatus, {
        headers: { 'decision-token': token },
        waitMs: waitS * 1_000,
        signal,
      }),
  };
}
