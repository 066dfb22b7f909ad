import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from '../../decision/configuration.ts';
import type { ClientInfo, MakeDecision } from '../../decision/decision-service.ts';
import { isBot } from '../../reward/ingest-events.ts';
import type { Principal } from '../../access/principal.ts';
import type { UserTokens } from '../../access/user-tokens.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { type Country, detectDevice, identifyPlayer } from '../authentication/identify-player.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { findClosestName } from '../../platform/closest-name.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  configuration: Configuration;
  makeDecision: MakeDecision;
  userTokens: UserTokens;
  limiter: RateLimiter;
  country: Pick<Country, 'read'>;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** How long `simulate: slow` delays the response. */
const simulatedDelayMs = 8_000;

type Request = FastifyRequest<{ Body: DecisionRequest }>;

/** Adds `POST /v1/decisions`, which handles ad requests. */
export function addDecisionRoutes(app: FastifyInstance, deps: Deps): void {
  app.post<{ Body: DecisionRequest }>(
    '/v1/decisions',
    {
      config: { keys: ['pk', 'sk'] },
      schema: {
        operationId: 'requestDecision',
        summary: 'Request an ad',
        body: { $ref: 'DecisionRequest#' },
        response: { 200: { description: 'The decision.', $ref: 'Decision#' } },
      },
    },
    (request, reply) => handleDecisionRequest(deps, request, reply),
  );
}

async function handleDecisionRequest(
  { configuration, makeDecision, userTokens, limiter, country, stopping }: Deps,
  request: Request,
  reply: FastifyReply,
): Promise<Decision> {
  const { body } = request;
  const principal = getPrincipal(request);
  if (body.simulate !== undefined && principal.environment === 'live') {
    throw new ProblemError('simulate_in_live', '`simulate` is available in the sandbox only.');
  }
  const { placements } = configuration.snapshot(principal);
  const entry = placements.get(body.placement);
  if (!entry) {
    // In the sandbox, the reader is a developer.
    const meant =
      principal.environment === 'sandbox' && findClosestName(body.placement, placements.keys());
    const detail = `There is no placement ${body.placement} in ${principal.environment}.`;
    throw new ProblemError(
      'placement_not_found',
      meant ? `${detail} Did you mean \`${meant}\`?` : detail,
    );
  }
  const identity = identifyPlayer(userTokens, principal, entry.placement, body);
  const identifiedRequest = identity instanceof Promise ? await identity : identity;
  if (identifiedRequest.user_ref !== undefined && principal.kind === 'pk') {
    limiter.onUser(principal, identifiedRequest.user_ref, reply);
  }
  if (body.simulate === 'slow') await delayResponse(stopping);
  if (body.simulate === 'error')
    throw new ProblemError('simulated_error', 'The error is simulated, as requested.');
  return makeDecision(
    principal,
    entry,
    identifiedRequest,
    describeClient(country, principal, request),
  );
}

function describeClient(
  country: Pick<Country, 'read'>,
  { kind, environment }: Principal,
  { headers, ip }: FastifyRequest,
): ClientInfo {
  const userAgent = headers['user-agent'];
  const device = detectDevice(userAgent);
  // A request with a secret key comes from the customer's server, which may be in a different country than the player.
  if (kind !== 'pk') return { device, bot: false };
  return {
    device,
    country: country.read(headers),
    bot: isBot(userAgent, environment),
    ip,
    userAgent,
    origin: readPageOrigin(headers.origin),
  };
}

/**
 * Returns the game page's origin, or undefined if it is opaque (`null`), as it is for local files and sandboxed frames.
 */
const readPageOrigin = (origin: string | undefined): string | undefined =>
  origin !== undefined && /^https?:\/\/[^/]+$/.test(origin) && URL.canParse(origin)
    ? origin
    : undefined;

/** Delays the response to `simulate: slow`. The delay ends early if the service stops. */
async function delayResponse(stopping: AbortSignal): Promise<void> {
  await sleep(simulatedDelayMs, undefined, { signal: stopping }).catch(() => undefined);
}
