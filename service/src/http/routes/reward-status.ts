import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DecisionTokens, TokenClaims } from '../../decision/token.ts';
import type { Principal } from '../../access/principal.ts';
import type { Clock } from '../../platform/time.ts';
import { linkSignal } from '../../platform/bounded-request.ts';
import type { Receipts } from '../../reward/receipt.ts';
import type { ReadReward } from '../../reward/reward-status.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  readReward: ReadReward;
  tokens: DecisionTokens;
  receipts: Receipts;
  clock: Pick<Clock, 'nowMs'>;
  limiter: Pick<RateLimiter, 'onWait'>;
  /** Aborts when the service stops. This ends long-polling requests. */
  stopping: AbortSignal;
}

/** The longest possible `late_window_s`. After this time, no event can change a reward. */
const maxLateWindowMs = 7 * 86_400_000;

interface StatusRequest {
  Params: { id: string };
  Querystring: { wait_s: number };
}

/**
 * Adds `GET /v1/decisions/{id}`, which returns a decision's reward, and `/.well-known/jwks.json`, which returns the
 * public keys for receipts.
 */
export function addRewardRoutes(
  app: FastifyInstance,
  { clock, readReward, tokens, receipts, limiter, stopping }: Deps,
): void {
  app.get<StatusRequest>(
    '/v1/decisions/:id',
    {
      config: { keys: ['pk', 'sk'] },
      schema: {
        operationId: 'readReward',
        summary: "Read a decision's reward",
        description:
          'A publishable key needs the header `Decision-Token`. No event can change a reward more than a ' +
          'week after the decision. From then on, a request with the token of a decision that is no longer ' +
          'stored fails with `decision_gone` (410).',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            wait_s: {
              type: 'integer',
              minimum: 0,
              maximum: 25,
              default: 0,
              description: 'How long to wait for the state to change, in seconds.',
            },
            nonce: {
              type: 'string',
              maxLength: 64,
              description:
                'Ignored. With a different value per request, no cache between the player and the service answers.',
            },
          },
        },
        response: { 200: { description: 'The reward.', $ref: 'RewardStatus#' } },
      },
    },
    async (request, reply) => {
      const principal = getPrincipal(request);
      const { id } = request.params;
      const claims =
        principal.kind === 'pk' ? checkToken(tokens, principal, id, request) : undefined;
      const waitMs = request.query.wait_s * 1_000;
      const endWait = waitMs === 0 ? undefined : limiter.onWait(principal, request, id);
      const waiting = linkSignal(stopping);
      reply.raw.once('close', waiting.abort);
      const status = await readReward(
        principal,
        id,
        waitMs,
        waiting.signal,
        claims?.userRef,
      ).finally(() => {
        waiting.release();
        endWait?.();
      });
      if (!status && claims && clock.nowMs() - claims.issuedAtMs > maxLateWindowMs)
        throw new ProblemError('decision_gone', 'This decision is no longer stored.');
      if (!status)
        throw new ProblemError('not_found', 'There is no such decision in this environment.');
      return status;
    },
  );

  app.get('/.well-known/jwks.json', { schema: { hide: true } }, async (_request, reply) => {
    void reply.headers({
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
    return receipts.readJwks();
  });
}

function checkToken(
  tokens: DecisionTokens,
  principal: Principal,
  id: string,
  request: FastifyRequest,
): TokenClaims {
  const header = request.headers['decision-token'];
  const claims = typeof header === 'string' ? tokens.verify(header) : undefined;
  if (!claims || claims.accountId !== principal.accountId || claims.decisionId !== id) {
    throw new ProblemError(
      'token_invalid',
      'Send the token of this decision in the header `Decision-Token`.',
    );
  }
  if (claims.environment !== principal.environment) {
    throw new ProblemError(
      'environment_mismatch',
      `The token belongs to ${claims.environment}, but the key belongs to ${principal.environment}.`,
    );
  }
  return claims;
}
