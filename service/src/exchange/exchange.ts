import type { DisclosedPlayer } from '../demand/disclose.ts';
import { linkSignal } from '../platform/link-signal.ts';
import { withChanges } from '../platform/with-changes.ts';
import type { ExternalSource } from '../resource/external-source.ts';
import type { RequestHeaders } from '../resource/request-headers.ts';
import {
  type SourceCall,
  type OfferRequest,
  serverUserAgent,
  type SourceDeps,
  type SourceResponse,
} from './offer-request.ts';
import { callBidder } from './openrtb-source.ts';
import type { ExternalResponse, RequestExternal } from './external-client.ts';
import { callTag } from './vast-source.ts';

/** Requests an offer from a source within `timeoutMs`. Never rejects. */
export type RequestOffer = (
  source: ExternalSource,
  request: OfferRequest,
  timeoutMs: number,
) => Promise<SourceResponse>;

interface Deps extends SourceDeps {
  requestExternal: RequestExternal;
  /** Reads the source's configured request headers, such as an API key. */
  readHeaders: RequestHeaders['read'];
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

export function createRequestOffer(deps: Deps): RequestOffer {
  const { clock, requestExternal, readHeaders, stopping } = deps;
  return async (source, request, timeoutMs) => {
    const startedMs = clock.monotonicMs();
    const linkedSignal = linkSignal(stopping, { timeoutMs });
    const sourceHost = new URL(source.kind === 'vast' ? source.tag_url : source.endpoint_url).host;
    const send = async (url: string, body?: string): Promise<ExternalResponse> => {
      const sentMs = clock.monotonicMs();
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
        signal: linkedSignal.signal,
        ...(body === undefined ? {} : { body }),
      });
      request.onExchange?.({
        method: body === undefined ? 'GET' : 'POST',
        url,
        headers,
        ms: Math.round(clock.monotonicMs() - sentMs),
        response,
        ...(body === undefined ? {} : { body }),
      });
      return response;
    };
    try {
      const call: SourceCall = { deps, source, request, timeoutMs, send };
      const response =
        source.kind === 'vast'
          ? await callTag(call, source.tag_url)
          : await callBidder(call, source.endpoint_url);
      const ms = Math.round(clock.monotonicMs() - startedMs);
      return {
        ...emptyResponse,
        ...withChanges(response, { details: { ms, ...response.details } }),
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { ...emptyResponse, verdict: `source_error: ${reason.slice(0, 200)}` };
    } finally {
      linkedSignal.release();
    }
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
