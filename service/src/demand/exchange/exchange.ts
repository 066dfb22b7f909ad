import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DisclosedPlayer } from '../disclose.ts';
import { isTestSourceUrl, respondAsTestSource } from '../test-source.ts';
import { linkSignal } from '../../platform/bounded-request.ts';
import { onAbort } from '../../platform/on-abort.ts';
import { createGuardedAgents } from '../../platform/guarded-agent.ts';
import type { Clock } from '../../platform/time.ts';
import type { RequestHeaders } from '../../resource/request-headers.ts';
import type { ExternalSource } from '../../resource/resource.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { type RequestExternal, createRequestExternal } from './external-client.ts';
import {
  type OfferRequest,
  type PartialResponse,
  type SourceCall,
  serverUserAgent,
  type SourceDeps,
  type SourceResponse,
} from './offer-request.ts';
import { callBidder } from './openrtb-source.ts';
import { callTag } from './vast-source.ts';

/** Requests an offer from a source within `timeoutMs`. Never rejects. */
export type RequestOffer = (
  source: ExternalSource,
  request: OfferRequest,
  timeoutMs: number,
) => Promise<SourceResponse>;

interface RequestOfferDeps extends SourceDeps {
  requestExternal: RequestExternal;
  /** Reads the source's configured request headers, such as an API key. */
  readHeaders: RequestHeaders['read'];
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

export function createRequestOffer(deps: RequestOfferDeps): RequestOffer {
  return (source, request, timeoutMs) =>
    callWithin(deps, source, request, timeoutMs, (call) =>
      source.kind === 'vast'
        ? callTag(call, source.tag_url)
        : callBidder(call, source.endpoint_url),
    );
}

/** Does `work` with a source within `timeoutMs`. Never rejects. */
async function callWithin(
  deps: RequestOfferDeps,
  source: ExternalSource,
  request: OfferRequest,
  timeoutMs: number,
  work: (call: SourceCall) => Promise<PartialResponse>,
): Promise<SourceResponse> {
  const { clock, stopping } = deps;
  const startedAtMs = clock.monotonicMs();
  const linkedSignal = linkSignal(stopping, { timeoutMs });
  const send = createSend(deps, source, request, linkedSignal.signal);
  try {
    const { deferred, ...response } = await work({ deps, source, request, timeoutMs, send });
    const ms = Math.round(clock.monotonicMs() - startedAtMs);
    return {
      ...emptyResponse,
      ...response,
      details: { ms, ...response.details },
      ...(deferred && {
        deferred: {
          priceMicros: deferred.priceMicros,
          creativeKey: deferred.creativeKey,
          fetch: (limitMs) => callWithin(deps, source, request, limitMs, deferred.fetchWith),
        },
      }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...emptyResponse, verdict: `source_error: ${reason.slice(0, 200)}` };
  } finally {
    linkedSignal.release();
  }
}

/** Creates the function with which a call sends its requests. */
function createSend(
  { clock, requestExternal, readHeaders }: RequestOfferDeps,
  source: ExternalSource,
  request: OfferRequest,
  signal: AbortSignal,
): SourceCall['send'] {
  const sourceHost = new URL(source.kind === 'vast' ? source.tag_url : source.endpoint_url).host;
  return async (url, body) => {
    const sentAtMs = clock.monotonicMs();
    const headers = buildHeaders(source, request.player, body !== undefined);
    const response = await requestExternal({
      sourceId: source.id,
      url,
      // Wrappers and win notices can refer to other hosts. These must not receive the credentials.
      ...(new URL(url).host === sourceHost && {
        credentials: await readHeaders(request.accountId, source),
      }),
      headers,
      loopback: request.loopback,
      sandbox: request.sandbox,
      signal,
      ...(body === undefined ? {} : { body }),
    });
    request.onExchange?.({
      method: body === undefined ? 'GET' : 'POST',
      url,
      headers,
      ms: Math.round(clock.monotonicMs() - sentAtMs),
      response,
      ...(body === undefined ? {} : { body }),
    });
    return response;
  };
}

const emptyResponse: SourceResponse = {
  verdict: 'no_bid',
  details: {},
  notices: [],
  onWin: [],
  onLoss: () => [],
  trace: [],
};

function buildHeaders(
  { header_profile: profile }: ExternalSource,
  { ip, userAgent, language }: DisclosedPlayer,
  hasBody: boolean,
): Record<string, string> {
  const isForwarded = profile === 'forwarded';
  const printableUserAgent = userAgent?.replace(/[^\x20-\x7e]/g, '');
  return Object.fromEntries(
    Object.entries({
      'user-agent': isForwarded ? (printableUserAgent ?? serverUserAgent) : serverUserAgent,
      'x-device-user-agent': isForwarded ? undefined : printableUserAgent,
      [isForwarded ? 'x-forwarded-for' : 'x-device-ip']: ip,
      'accept-language': language,
      'content-type': hasBody ? 'application/json' : undefined,
    }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Records a call's outcome: `offer`, or the first part of the verdict. */
export type ObserveCall = (kind: ExternalSource['kind'], outcome: string, seconds: number) => void;

interface ExchangeDeps {
  clock: Clock;
  demandMetrics: { observeCall: ObserveCall };
  readHeaders: RequestHeaders['read'];
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** Starts the client for external sources. */
export function startExchange({ clock, demandMetrics, readHeaders, stopping }: ExchangeDeps): {
  requestOffer: RequestOffer;
  /** Returns the source's hosts to which this process currently sends no requests, because they failed repeatedly. */
  openHosts(sourceId: string): string[];
  stop(): Promise<void>;
} {
  const agents = createGuardedAgents();
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
      agents.destroy();
    },
  };
}

/** In the sandbox, routes requests for the built-in test source's URLs to it. Sends other requests as usual. */
const withTestSource =
  (requestExternal: RequestExternal): RequestExternal =>
  async (request) => {
    const { url, body, sandbox, signal } = request;
    if (!sandbox || !isTestSourceUrl(url)) return requestExternal(request);
    const response = respondAsTestSource(url, body);
    if (!response) {
      await new Promise<void>((resolve) => onAbort(signal, resolve));
      return { status: 'failed', kind: 'timeout', reason: 'The request timed out.' };
    }
    const { httpStatus, text } = response;
    if (httpStatus < 300) return { status: 'ok', httpStatus, text, url };
    const reason = `The response has status ${httpStatus}; expected 200 or 204.`;
    return { status: 'failed', kind: 'error', reason, httpStatus };
  };
