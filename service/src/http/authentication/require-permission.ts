import type { FastifyRequest } from 'fastify';
import { isKeyRevoked } from '../../access/key-store.ts';
import type { Sessions } from '../../access/sessions.ts';
import type { Clock } from '../../platform/time.ts';
import type { Queries } from '../../store/database.ts';
import { ProblemError } from '../problem.ts';
import { getPrincipal } from './authenticate.ts';
import { checkRole } from './session-access.ts';

/**
 * Checks again, in the transaction of a change, that the request's key or session may make it. A request is
 * authenticated when its headers arrive. Its body may follow much later, so that a client could keep requests open and
 * create a new key after its own was revoked.
 *
 * @throws ProblemError when the key was revoked, the session has ended, or its user has another role now.
 */
export type RequirePermission = (queries: Queries, request: FastifyRequest) => Promise<void>;

export function createRequirePermission({
  sessions,
  clock,
}: {
  sessions: Pick<Sessions, 'find'>;
  clock: Pick<Clock, 'nowMs'>;
}): RequirePermission {
  return async (queries, request) => {
    const principal = getPrincipal(request);
    if (principal.kind !== 'session') {
      if (await isKeyRevoked(queries, principal, clock.nowMs()))
        throw new ProblemError(
          'key_revoked',
          'The key was revoked before its request was complete: nothing was changed.',
        );
      return;
    }
    const token = request.session?.token ?? '';
    const session = await sessions.find(token, { touch: false, queries });
    if (!session)
      throw new ProblemError(
        'authentication_required',
        'The session ended before its request was complete: nothing was changed. Sign in again.',
      );
    checkRole(request, session);
  };
}
