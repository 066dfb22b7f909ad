import type { DecisionRequest, Placement } from '@trueward/protocol/wire';
import type { Principal } from '../../key/principal.ts';
import type { UserTokens } from '../../key/user-tokens.ts';
import { ProblemError } from '../problems/problem.ts';

/**
 * Determines the player of a decision: a server may name them, a client may have to prove it. Synchronous
 * when there is nothing to verify.
 *
 * @throws ProblemError `identity_required`, `token_invalid` or `invalid_request`.
 */
export function identify(
  userTokens: UserTokens,
  principal: Principal,
  placement: Placement,
  request: DecisionRequest,
): DecisionRequest | Promise<DecisionRequest> {
  const { user_token: token } = request;
  if (token === undefined) return checkIdentity(principal, placement, request);
  return withProvenUser(userTokens, principal, request, token).then((identified) =>
    checkIdentity(principal, placement, identified),
  );
}

function checkIdentity(
  principal: Principal,
  placement: Placement,
  request: DecisionRequest,
): DecisionRequest {
  const { identity = 'none', format } = placement;
  const proven = principal.kind === 'sk' || request.user_token !== undefined;
  if (
    principal.kind === 'pk' &&
    (identity === 'server' || (identity === 'user_token' && !proven))
  ) {
    throw new ProblemError(
      'identity_required',
      identity === 'server'
        ? `Only your server can request decisions for the placement ${placement.name}: request them there with a secret key, and pass them to the client.`
        : `The placement ${placement.name} requires a user token: have your server sign one with signUserToken.`,
    );
  }
  if (format === 'rewarded' && request.user_ref === undefined) {
    throw new ProblemError('invalid_request', 'A rewarded ad needs a player to reward.', {
      errors: [{ pointer: '/user_ref', message: 'is required for a rewarded placement' }],
    });
  }
  return request;
}

async function withProvenUser(
  userTokens: UserTokens,
  principal: Principal,
  request: DecisionRequest,
  token: string,
): Promise<DecisionRequest> {
  const userRef = await userTokens.verify(principal, token);
  if (userRef === undefined) {
    throw new ProblemError(
      'token_invalid',
      'The user token is not signed with a secret of this environment, has expired, or lives longer than a day.',
    );
  }
  if (request.user_ref !== undefined && request.user_ref !== userRef) {
    throw new ProblemError(
      'token_invalid',
      'The user token belongs to a different user than `user_ref`.',
    );
  }
  return { ...request, user_ref: userRef };
}
