import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressGroup } from '../limits/rate-limits.ts';
import { ProblemError } from '../problems/problem.ts';
import { sessionOf } from '../authentication/session-access.ts';
import { type PanelParts, newPassword, strictBody, text } from './panel-parts.ts';
import { refuse, startSession } from './sign-in.ts';

/** Every role may change its own sign-in. */
const config = { panel: 'account', role: 'viewer' } as const;

/** `/panel/api/account`: the user's own password and one-time codes. */
export function addAccountRoutes(app: FastifyInstance, parts: PanelParts): void {
  const { users } = parts;
  /** Somebody at an unattended browser must not be able to take over the account. */
  const confirm = async (request: FastifyRequest, password: string): Promise<void> => {
    const address = addressGroup(request.ip);
    const refusal = await users.signIn.confirm(sessionOf(request).user, password, address);
    if (!refusal || !('refused' in refusal)) return;
    // Not 401: the session is still valid, and the page would sign the user out.
    if (refusal.refused === 'sign_in_failed')
      throw new ProblemError('invalid_request', 'The password is wrong.');
    throw refuse(refusal);
  };
  app.post<{ Body: { current: string; next: string } }>(
    '/panel/api/account/password',
    {
      config,
      schema: {
        hide: true,
        body: strictBody({ current: text(200), next: newPassword }, ['current', 'next']),
      },
    },
    async (request, reply) => {
      await confirm(request, request.body.current);
      const user = sessionOf(request).user;
      return startSession(parts, reply, await users.own.changePassword(user, request.body.next));
    },
  );
  app.post('/panel/api/account/codes', { config, schema: { hide: true } }, async (request) => {
    const { secret, otpauthUrl } = await users.own.startCodes(sessionOf(request).user);
    return { secret, otpauth_url: otpauthUrl };
  });
  app.post<{ Body: { code: string } }>(
    '/panel/api/account/codes/confirm',
    { config, schema: { hide: true, body: strictBody({ code: text(20) }, ['code']) } },
    async (request, reply) => {
      await users.own.confirmCodes(sessionOf(request).user, request.body.code);
      return reply.code(204).send();
    },
  );
  app.delete<{ Body: { password: string } }>(
    '/panel/api/account/codes',
    { config, schema: { hide: true, body: strictBody({ password: text(200) }, ['password']) } },
    async (request, reply) => {
      await confirm(request, request.body.password);
      await users.own.stopCodes(sessionOf(request).user);
      return reply.code(204).send();
    },
  );
}
