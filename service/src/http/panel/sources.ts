import type { FastifyInstance } from 'fastify';
import type { TrialResult } from '../../decision/dry-run.ts';
import { formatInstant } from '../../platform/time.ts';
import { readSourceHealth } from '../../history/source-health.ts';
import { toExternalSource, type ExternalSource } from '../../resource/resource.ts';
import type { Scope } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { readAddress } from '../client-address.ts';
import { notFound } from '../openapi.ts';
import { getActor } from '../operations.ts';
import { ProblemError } from '../problem.ts';
import { type PanelDeps, strictBody, textSchema } from './panel-deps.ts';

interface TrialRequest {
  Params: { id: string };
  Body: {
    placement: string;
    consent: 'granted' | 'denied' | 'unknown';
    /** Whether to copy an unknown creative and add it to the review queue. */
    submit: boolean;
  };
}

const trialBody = strictBody(
  {
    placement: textSchema(64),
    consent: { type: 'string', enum: ['granted', 'denied', 'unknown'], default: 'unknown' },
    submit: { type: 'boolean', default: false },
  },
  ['placement'],
);

/** Maximum number of concurrent trials per account. A trial can last until its source times out. */
const maxTrials = 4;
/** Maximum length of each response shown in the panel, in characters. */
const maxTextLength = 50_000;

/** Adds `/panel/api/sources/:id`, which runs trials of external sources and returns their health. */
export function addSourceRoutes(app: FastifyInstance, deps: PanelDeps): void {
  const { database, resources, trySource, openHosts, audit, clock } = deps;
  const findSource = async (scope: Scope, id: string): Promise<ExternalSource> => {
    const resource = await resources.find(database, scope, 'source', id);
    if (!resource) throw notFound('source', id);
    const source = toExternalSource(resource.document);
    if (source) return source;
    throw new ProblemError(
      'invalid_request',
      `${resource.document.name} is not an external source; choose a source of kind vast or openrtb.`,
    );
  };
  /** Number of running trials, by account. */
  const trials = new Map<string, number>();
  const countTrial = (accountId: string, change: 1 | -1): void => {
    const count = (trials.get(accountId) ?? 0) + change;
    if (count === 0) trials.delete(accountId);
    else trials.set(accountId, count);
  };

  app.post<TrialRequest>(
    '/panel/api/sources/:id/try',
    { config: { panel: 'environment' }, schema: { hide: true, body: trialBody } },
    async (request) => {
      const principal = getPrincipal(request);
      const { accountId, environment } = principal;
      const { placement, consent, submit } = request.body;
      const source = await findSource(principal, request.params.id);
      if ((trials.get(accountId) ?? 0) >= maxTrials) {
        throw new ProblemError(
          'rate_limited',
          `${maxTrials} trials are already in progress for this account.`,
          { retryAfterS: 1 },
        );
      }
      countTrial(accountId, 1);
      try {
        const result = await trySource(principal, {
          source,
          placement,
          consent,
          shouldSubmit: submit,
          client: { ip: readAddress(request), userAgent: request.headers['user-agent'] },
        });
        if (!result) {
          throw new ProblemError(
            'placement_not_found',
            `There is no placement ${placement} in ${environment}.`,
          );
        }
        await audit.record(
          {
            queries: database,
            scope: { accountId, environment },
            actor: getActor(principal),
            requestId: request.id,
          },
          {
            action: 'source.tried',
            targetId: source.id,
            after: { placement, consent, submit, verdict: result.verdict },
          },
        );
        return describeTrial(result, source);
      } finally {
        countTrial(accountId, -1);
      }
    },
  );

  app.get<{ Params: { id: string } }>(
    '/panel/api/sources/:id/health',
    { config: { panel: 'environment' }, schema: { hide: true } },
    async (request) => {
      const principal = getPrincipal(request);
      const source = await findSource(principal, request.params.id);
      const { hours, latencyMs } = await readSourceHealth(
        database,
        principal,
        source.id,
        clock.nowMs(),
      );
      return { hours, latency_ms: latencyMs, open_hosts: openHosts(source.id) };
    },
  );
}

const describeTrial = (
  { verdict, ms, vastError, exchanges, steps, offer, notices, creative, review }: TrialResult,
  { request_header_names: secretHeaders = [] }: ExternalSource,
): object => ({
  verdict,
  ms,
  vast_error: vastError,
  exchanges: exchanges.map(({ response, ...exchange }) => ({
    ...exchange,
    // Contains only header names, because header values are never shown.
    secret_headers: secretHeaders,
    http_status: response.httpStatus,
    ...(response.status === 'ok'
      ? { final_url: response.url, text: response.text.slice(0, maxTextLength) }
      : { failure: response.reason }),
  })),
  steps,
  notices,
  ad: offer && {
    advertiser: offer.advertiserName,
    advertiser_domain: offer.advertiserDomain,
    creative_key: offer.creativeKey,
    price_micros: offer.priceMicros,
    currency: offer.currency,
    media: offer.media,
    captions: offer.captions,
    categories: offer.categories,
    click_url: offer.clickUrl,
    icon: offer.icon,
    skip_after_ms: offer.skipAfterMs,
    expires_at: offer.expiresAtMs === undefined ? undefined : formatInstant(offer.expiresAtMs),
    trackers: [
      ...Object.entries(offer.trackers.byEvent).flatMap(([event, urls]) =>
        urls.map((url) => ({ event, url })),
      ),
      ...offer.trackers.progress.map(({ url }) => ({ event: 'progress', url })),
      ...(offer.trackers.burl === undefined
        ? []
        : [{ event: 'billing', url: offer.trackers.burl }]),
    ],
  },
  creative,
  review,
});
