import type { FastifyInstance } from 'fastify';
import type { UserTokens } from '../../key/user-tokens.ts';
import { principalOf } from '../authenticate.ts';

/** `POST /v1/user_token_secrets`: makes the secret that the customer's server signs user tokens with. */
export function addUserTokenRoutes(
  app: FastifyInstance,
  { userTokens }: { userTokens: UserTokens },
): void {
  app.post<{ Body: { overlap_s: number } }>(
    '/v1/user_token_secrets',
    {
      config: { keys: ['sk'], role: 'owner' },
      schema: {
        operationId: 'createUserTokenSecret',
        summary: 'Make a new secret for user tokens',
        body: { $ref: 'UserTokenSecretRequest#' },
        response: {
          201: { description: 'The secret, shown this once.', $ref: 'UserTokenSecret#' },
        },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const secret = await userTokens.createSecret(principal, request.body.overlap_s);
      void reply.code(201);
      return { secret, environment: principal.environment };
    },
  );
}
