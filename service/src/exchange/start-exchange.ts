import { lookup } from 'node:dns';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTestSourceUrl, respondAsTestSource } from '../demand/test-source.ts';
import type { Clock } from '../platform/clock.ts';
import { createGuardedAgent } from '../platform/guarded-agent.ts';
import type { ExternalSource } from '../resource/external-source.ts';
import type { RequestHeaders } from '../resource/request-headers.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createRequestOffer, type RequestOffer } from './exchange.ts';
import { createRequestExternal, type RequestExternal } from './external-client.ts';

/** Records the outcome of a call: `offer`, or the first part of the verdict. */
export type ObserveCall = (kind: ExternalSource['kind'], outcome: string, seconds: number) => void;

interface Deps {
  clock: Clock;
  demandMetrics: { observeCall: ObserveCall };
  readHeaders: RequestHeaders['read'];
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** The connect timeout. If connecting takes longer, the auction ends before the request can be sent. */
const connectTimeoutMs = 1_000;

/**
 * Starts the client for external sources. Webhooks have agents of their own, because their connect timeout is longer.
 */
export function startExchange({ clock, demandMetrics, readHeaders, stopping }: Deps): {
  requestOffer: RequestOffer;
  /** Returns the source's hosts that failed repeatedly, so that this process currently sends them no requests. */
  openHosts(sourceId: string): string[];
  stop(): Promise<void>;
} {
  const createAgent = (loopback: boolean) =>
    createGuardedAgent({ loopback }, lookup, connectTimeoutMs);
  const agents = { strict: createAgent(false), development: createAgent(true) };
  const breaker = createCircuitBreaker(clock);
  const requestOffer = createRequestOffer({
    requestExternal: withTestSource(createRequestExternal({ agents, breaker })),
    readHeaders,
    clock,
    random: Math.random,
    pause: () => nextTurn(),
    stopping,
  });
  return {
    openHosts: breaker.openHosts,
    async requestOffer(source, ...request) {
      const response = await requestOffer(source, ...request);
      const { verdict, details } = response;
      const [outcome = ''] = verdict.split(':', 1);
      demandMetrics.observeCall(source.kind, outcome, (details.ms ?? 0) / 1_000);
      return response;
    },
    async stop() {
      await Promise.all([agents.strict.destroy(), agents.development.destroy()]);
    },
  };
}

/** In the sandbox, lets the built-in test source respond to requests for its URLs. Sends all other requests. */
const withTestSource =
  (requestExternal: RequestExternal): RequestExternal =>
  async (request) => {
    const { url, body, sandbox, signal } = request;
    if (!sandbox || !isTestSourceUrl(url)) return requestExternal(request);
    const response = respondAsTestSource(url, body);
    if (!response) {
      if (!signal.aborted) await once(signal, 'abort');
      return { status: 'failed', kind: 'timeout', reason: 'No response in time.' };
    }
    const { httpStatus, text } = response;
    if (httpStatus < 300) return { status: 'ok', httpStatus, text, url };
    const reason = `The response has status ${httpStatus}; expected 200 or 204.`;
    return { status: 'failed', kind: 'error', reason, httpStatus };
  };
