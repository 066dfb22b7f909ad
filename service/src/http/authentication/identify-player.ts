import type { DecisionRequest, Placement } from '@trueward/protocol/wire';
import type { Principal } from '../../key/principal.ts';
import type { UserTokens } from '../../key/user-tokens.ts';
import { ProblemError } from '../problems/problem.ts';

/**
 * Settles whom a decision is for: a server may say so, a client may have to prove it. At once where
 * there is nothing to prove.
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
        ? `The placement ${placement.name} takes decisions of your server only: ask with the secret key there, and hand the answer to the client.`
        : `The placement ${placement.name} needs a user token: have your server sign one with signUserToken.`,
    );
  }
  if (format === 'rewarded' && request.user_ref === undefined) {
    throw new ProblemError('invalid_request', 'A rewarded ad needs to know whom to reward.', {
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
      'The user token is not signed by a secret of this environment, has expired, or lives longer than a day.',
    );
  }
  if (request.user_ref !== undefined && request.user_ref !== userRef) {
    throw new ProblemError('token_invalid', 'The user token proves another user than `user_ref`.');
  }
  return { ...request, user_ref: userRef };
}
