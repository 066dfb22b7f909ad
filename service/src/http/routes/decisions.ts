import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision, DecisionRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import type { AskingClient, MakeDecision } from '../../decision/decision-service.ts';
import type { Configuration } from '../../resource/configuration.ts';
import { isBot } from '../../event/bots.ts';
import type { Principal } from '../../key/principal.ts';
import type { UserTokens } from '../../key/user-tokens.ts';
import { principalOf } from '../authenticate.ts';
import { deviceOf } from '../device.ts';
import type { Country } from '../country.ts';
import type { AnswerHeaders, Asker } from '../exchange.ts';
import type { HotRoute } from '../hot-path.ts';
import { identify } from '../identify.ts';
import { ProblemError } from '../problem.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { compileBody } from '../validation.ts';
import { writeDecision } from '../write-decision.ts';

interface Parts {
  configuration: Configuration;
  makeDecision: MakeDecision;
  userTokens: UserTokens;
  limiter: RateLimiter;
  country: Pick<Country, 'of'>;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** How long `simulate: slow` holds the answer. */
const slowMs = 8_000;

interface Asked {
  principal: Principal;
  body: DecisionRequest;
  asker: Asker;
  headers: AnswerHeaders;
}

const path = '/v1/decisions';
const keys = ['pk', 'sk'] as const;
const schema = { $ref: 'DecisionRequest#' };

/** `POST /v1/decisions`: asks for an ad. */
export function addDecisionRoutes(
  app: FastifyInstance,
  parts: Parts,
): HotRoute<DecisionRequest, Decision> {
  const answer = (asked: Asked): Promise<Decision> => answerDecision(parts, asked);
  app.post<{ Body: DecisionRequest }>(
    path,
    {
      config: { keys },
      schema: {
        operationId: 'requestDecision',
        summary: 'Ask for an ad',
        body: schema,
        response: { 200: { description: 'The decision.', $ref: 'Decision#' } },
      },
    },
    (request, reply) =>
      answer({
        principal: principalOf(request),
        body: request.body,
        asker: request,
        headers: reply,
      }),
  );
  return {
    path,
    keys,
    validate: compileBody(app, schema),
    answer,
    write: writeDecision,
  };
}

async function answerDecision(
  { configuration, makeDecision, userTokens, limiter, country, stopping }: Parts,
  { principal, body, asker, headers }: Asked,
): Promise<Decision> {
  if (body.simulate !== undefined && principal.environment === 'live') {
    throw new ProblemError('simulate_in_live', '`simulate` works in the sandbox only.');
  }
  const entry = configuration.snapshot(principal).placements.get(body.placement);
  if (!entry) {
    throw new ProblemError(
      'placement_not_found',
      `There is no placement ${body.placement} in ${principal.environment}.`,
    );
  }
  const identity = identify(userTokens, principal, entry.placement, body);
  const identified = identity instanceof Promise ? await identity : identity;
  if (identified.user_ref !== undefined && principal.kind === 'pk') {
    limiter.onUser(principal, identified.user_ref, headers);
  }
  if (body.simulate === 'slow') await hold(stopping);
  if (body.simulate === 'error')
    throw new ProblemError('simulated_error', 'The request asked for this error.');
  const client = clientOf(country, principal, asker);
  // To hand the promise back takes two turns more of the queue than to wait for it.
  const decision = await makeDecision(principal, entry, identified, client);
  return decision;
}

function clientOf(
  country: Pick<Country, 'of'>,
  { kind, environment }: Principal,
  { headers }: Asker,
): AskingClient {
  const userAgent = headers['user-agent'];
  // A customer's server is not where its player is.
  const isPlayer = kind === 'pk';
  return {
    device: deviceOf(userAgent),
    country: isPlayer ? country.of(headers) : undefined,
    bot: isPlayer && isBot(userAgent, environment),
  };
}

/** Holds the answer of `simulate: slow`; a stopping service lets go at once. */
async function hold(stopping: AbortSignal): Promise<void> {
  await sleep(slowMs, undefined, { signal: stopping }).catch(() => undefined);
}
