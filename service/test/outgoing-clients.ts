import { createCircuitBreaker } from '../src/demand/exchange/circuit-breaker.ts';
import { createRequestExternal } from '../src/demand/exchange/external-client.ts';
import { createFetchMedia } from '../src/demand/intake/fetch-media.ts';
import { createTrackerSender } from '../src/demand/tracker/make-request.ts';
import type { GuardedAgents } from '../src/platform/guarded-agent.ts';
import { systemClock } from '../src/platform/time.ts';
import { fetchAdsTxt } from '../src/program/cli/doctor-ads-txt.ts';
import { createSender } from '../src/webhook/sender.ts';

type Send = (agents: GuardedAgents, url: string, signal: AbortSignal) => Promise<unknown>;

/**
 * Every client that connects to an address which an account, a source or an advertiser has chosen, by the file in
 * `service/src/` that sends the request. `outgoing-clients.test.ts` fails if one is missing.
 */
export const guardedClients: Record<string, Send> = {
  'webhook/sender.ts': (agents, url, signal) =>
    createSender({ clock: systemClock, agents })(
      { url, id: 'evt_1', body: '{}', secrets: ['whsec_AAAA'], loopback: false },
      signal,
    ),
  // Tags, wrappers and bidders.
  'demand/exchange/external-client.ts': (agents, url, signal) =>
    createRequestExternal({ agents, breaker: createCircuitBreaker(systemClock) })({
      sourceId: 'src_1',
      url,
      headers: {},
      loopback: false,
      sandbox: false,
      signal,
    }),
  'demand/tracker/make-request.ts': (agents, url, signal) =>
    createTrackerSender({ agents })({ url, headers: {}, loopback: false }, signal),
  'demand/intake/fetch-media.ts': (agents, url, signal) =>
    createFetchMedia({ agents })({ url, maxBytes: 1_000, loopback: false }, signal),
  'program/cli/doctor-ads-txt.ts': (agents, url) => fetchAdsTxt(url, agents.strict),
};

/**
 * The other files in `service/src/` that can open a connection, with who chooses the address. It must be whoever runs the
 * service or the command: an address from an account, a source or a player belongs to {@link guardedClients}.
 */
export const operatorClients: Record<string, string> = {
  'access/single-sign-on.ts': 'OIDC_ISSUER, and what this provider names',
  'media/media-store.ts': 'MEDIA_S3_URL',
  'program/cli/doctor-machine.ts': 'HOST, PORT and PUBLIC_URL: the service itself',
  'program/cli/listen.ts': 'the options of the command',
  'store/postgres-hosts.ts': 'DATABASE_URL',
  'store/postgres-pool.ts': 'DATABASE_URL',
  'trace/otlp-tracing.ts': 'OTEL_EXPORTER_OTLP_ENDPOINT',
};
