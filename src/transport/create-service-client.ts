import type { Decision, EventBatchResult, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
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
  method?: 'GET' | 'POST';
  body?: unknown;
  headers?: Record<string, string>;
  keepalive?: boolean | undefined;
  waitMs?: number;
  signal?: AbortSignal | undefined;
  /** Find out whether a failure at once was a blocked request; costs a request. */
  probe?: boolean;
}

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

  /** Runs `work` with a signal that aborts by time or by the caller. */
  const bounded = async <T>(
    ms: number,
    outer: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | 'timeout' | 'aborted' | 'failed'> => {
    if (outer?.aborted) return 'aborted';
    const inner = new AbortController();
    let cause: 'timeout' | 'aborted' | 'failed' = 'failed';
    const stop = (why: 'timeout' | 'aborted') => () => {
      cause = why;
      inner.abort();
    };
    const cancelTimer = clock.after(ms, stop('timeout'));
    const onAbort = stop('aborted');
    outer?.addEventListener('abort', onAbort);
    try {
      return await work(inner.signal);
    } catch {
      // fetch tells nothing but that it failed; `cause` knows whether that was us.
      return cause;
    } finally {
      cancelTimer();
      outer?.removeEventListener('abort', onAbort);
    }
  };

  /** Whether a harmless request to the same service gets through. */
  const reachesService = async (signal: AbortSignal | undefined): Promise<boolean> =>
    (await bounded(options.timeoutMs, signal, async (inner) => {
      const init = { credentials: 'omit', cache: 'no-store', signal: inner } as const;
      return (await fetch(`${base}/healthz`, init)).ok;
    })) === true;

  const request = async <T>(path: string, guard: Guard<T>, call: Call): Promise<Answer<T>> => {
    const startedAt = clock.monotonic();
    const came = await bounded(
      options.timeoutMs + (call.waitMs ?? 0),
      call.signal,
      async (signal) => {
        const response = await fetch(base + path, {
          method: call.method ?? 'POST',
          headers: {
            authorization: `Bearer ${options.publishableKey}`,
            ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
            ...call.headers,
          },
          ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
          credentials: 'omit',
          cache: 'no-store',
          keepalive: call.keepalive ?? false,
          signal,
        });
        return { status: response.status, headers: response.headers, text: await response.text() };
      },
    );
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
        method: 'GET',
        headers: { 'decision-token': token },
        waitMs: waitS * 1_000,
        signal,
      }),
  };
}
