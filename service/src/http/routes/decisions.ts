import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findFreeingTypes } from '../../decision/ad-rules.ts';
import type { Configuration } from '../../decision/configuration.ts';
import type { ClientInfo, MakeDecision, Pseudonymize } from '../../decision/decision-service.ts';
import type { LatestMistakes } from '../../history/latest-mistakes.ts';
import { detectDevice, isBot } from '../../decision/user-agent.ts';
import type { SecretBox } from '../../access/secret-box.ts';
import type { Clock } from '../../platform/time.ts';
import type { Database } from '../../store/database.ts';
import type { PlayerSighting } from '../../access/player-use.ts';
import type { KeyPrincipal, Principal } from '../../access/principal.ts';
import type { WalletService } from '../../wallet/wallet-service.ts';
import { linkSignal } from '../../platform/bounded-request.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  type Country,
  identifyPlayer,
  type IdentifyToken,
} from '../authentication/identify-player.ts';
import { readAddress } from '../client-address.ts';
import { ipGroup, type RateLimiter } from '../limits/rate-limits.ts';
import { findClosestName } from '../../platform/closest-name.ts';
import { writeHeaders } from '../openapi.ts';
import { runOnceDetached } from '../operations.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  database: Database;
  box: SecretBox;
  clock: Clock;
  configuration: Configuration;
  makeDecision: MakeDecision;
  identifyToken: IdentifyToken;
  pseudonym: Pseudonymize;
  wallets: Pick<WalletService, 'hasActive'>;
  limiter: RateLimiter;
  country: Pick<Country, 'read'>;
  /** Called for every request with a key. */
  onPlayer(principal: KeyPrincipal, sighting: PlayerSighting): void;
  /** What is told to developers, in the sandbox. */
  latestMistakes: LatestMistakes;
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
        description: '`Idempotency-Key` is for secret keys: a retry returns the same decision.',
        headers: writeHeaders,
        body: { $ref: 'DecisionRequest#' },
        response: { 200: { description: 'The decision.', $ref: 'Decision#' } },
      },
    },
    (request, reply) =>
      getPrincipal(request).kind === 'pk'
        ? handleClientRequest(deps, request, reply)
        : handleServerRequest(deps, request, reply),
  );
}

/** In the sandbox, a client tells the developer what seems to be wrong. */
async function handleClientRequest(
  deps: Deps,
  request: Request,
  reply: FastifyReply,
): Promise<Decision> {
  const decision = await handleDecisionRequest(deps, request, reply);
  const principal = getPrincipal(request);
  if (principal.environment !== 'sandbox') return decision;
  const mistakes = deps.latestMistakes(principal);
  return mistakes.length === 0 ? decision : { ...decision, mistakes: [...mistakes] };
}

/** A server may retry with the same `Idempotency-Key`, so that one ad request makes one decision. */
async function handleServerRequest(
  deps: Deps,
  request: Request,
  reply: FastifyReply,
): Promise<object> {
  const { body, replayed } = await runOnceDetached(
    { ...deps, queries: deps.database },
    getPrincipal(request),
    request,
    () => handleDecisionRequest(deps, request, reply),
  );
  if (replayed) void reply.header('idempotency-replayed', 'true');
  return body;
}

async function handleDecisionRequest(
  deps: Deps,
  request: Request,
  reply: FastifyReply,
): Promise<Decision> {
  const { configuration, makeDecision, identifyToken, limiter, country, onPlayer, stopping } = deps;
  const { body } = request;
  const principal = getPrincipal(request);
  if (body.device !== undefined) checkDevice(principal, body.device);
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
  const identity = identifyPlayer(identifyToken, principal, entry.placement, body);
  const { request: identifiedRequest, adFree: provenAdFree } =
    identity instanceof Promise ? await identity : identity;
  if (identifiedRequest.user_ref !== undefined && principal.kind === 'pk') {
    limiter.onUser(principal, identifiedRequest.user_ref, reply);
  }
  if (body.simulate === 'slow') await delayResponse(stopping);
  if (body.simulate === 'error')
    throw new ProblemError('simulated_error', 'The error is simulated, as requested.');
  const types = findFreeingTypes(entry.adRules, body.segments);
  const adFree =
    types.length > 0 && (await hasActive(deps, principal, identifiedRequest, types))
      ? [...provenAdFree, entry.placement.format]
      : provenAdFree;
  const client = describeClient(country, principal, request, adFree);
  if (principal.kind !== 'session') {
    const { user_ref: userRef, session } = identifiedRequest;
    onPlayer(principal, {
      userRef,
      device: client.ip && `${ipGroup(client.ip)} ${client.userAgent}`,
      playersOnDevice: session?.players,
      waitingRewards: session && (session.waiting_rewards ?? 0),
    });
  }
  return makeDecision(principal, entry, withLanguage(identifiedRequest), client);
}

/** Resolves to whether the player's wallet has one of these timed rewards. Only the player may say who they are. */
async function hasActive(
  { pseudonym, wallets }: Deps,
  principal: Principal,
  { child_directed: isChild, user_ref: userRef, user_token: token }: DecisionRequest,
  types: readonly string[],
): Promise<boolean> {
  const isProven = principal.kind === 'sk' || token !== undefined;
  if (!isProven || isChild || userRef === undefined) return false;
  return wallets.hasActive(principal, pseudonym(principal, userRef), types);
}

function describeClient(
  country: Pick<Country, 'read'>,
  { kind, environment }: Principal,
  request: Request,
  adFree: ClientInfo['adFree'],
): ClientInfo {
  const { headers, body } = request;
  // A request with a secret key comes from the customer's server. Only `device` describes the player.
  if (kind !== 'pk') {
    const { user_agent: playerAgent, ip: playerIp, country: playerCountry } = body.device ?? {};
    return {
      device: detectDevice(playerAgent),
      country: playerCountry,
      bot: playerAgent !== undefined && isBot(playerAgent, environment),
      ip: playerIp && readAddress({ ip: playerIp }),
      userAgent: playerAgent,
      adFree,
    };
  }
  const userAgent = headers['user-agent'];
  return {
    device: detectDevice(userAgent),
    country: country.read(headers),
    bot: isBot(userAgent, environment),
    ip: readAddress(request),
    userAgent,
    origin: readPageOrigin(headers.origin),
    adFree,
  };
}

/** @throws ProblemError when a client sends the player's device, or when an address is invalid. */
function checkDevice({ kind }: Principal, { ip }: NonNullable<DecisionRequest['device']>): void {
  if (kind === 'pk') {
    throw new ProblemError('invalid_request', 'The body is not valid.', {
      errors: [{ pointer: '/device', message: 'is for requests with a secret key only' }],
    });
  }
  if (ip !== undefined && isIP(ip) === 0) {
    throw new ProblemError('invalid_request', 'The body is not valid.', {
      errors: [{ pointer: '/device/ip', message: 'must be an IPv4 or IPv6 address' }],
    });
  }
}

const withLanguage = (request: DecisionRequest): DecisionRequest =>
  request.locale !== undefined || request.device?.language === undefined
    ? request
    : { ...request, locale: request.device.language };

/**
 * Returns the game page's origin, or undefined if it is opaque (`null`), as it is for local files and sandboxed frames.
 */
const readPageOrigin = (origin: string | undefined): string | undefined =>
  origin !== undefined && /^https?:\/\/[^/]+$/.test(origin) && URL.canParse(origin)
    ? origin
    : undefined;

/** Delays the response to `simulate: slow`. The delay ends early if the service stops. */
async function delayResponse(stopping: AbortSignal): Promise<void> {
  const { signal, release } = linkSignal(stopping);
  await sleep(simulatedDelayMs, undefined, { signal }).catch(() => undefined);
  release();
}
