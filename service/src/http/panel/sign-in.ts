import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatInstant } from '../../platform/time.ts';
import type { Link } from '../../access/links.ts';
import type { Session } from '../../access/sessions.ts';
import type { SignInResult } from '../../access/sign-in.ts';
import { describeUser } from '../../access/user.ts';
import { checkSameOrigin, getSession } from '../authentication/session-access.ts';
import { ipGroup } from '../limits/rate-limits.ts';
import { ProblemError } from '../problem.ts';
import {
  emailSchema,
  newPasswordSchema,
  type PanelDeps,
  personNameSchema,
  strictBody,
  textSchema,
} from './panel-deps.ts';

/** Maximum size of a body with credentials. */
const bodyLimit = 4_096;
/** Users with any role may change their own password and one-time codes. */
const config = { panel: 'account', role: 'viewer' } as const;
const codesConfig = { ...config, power: 'one_time_codes' } as const;

interface Credentials {
  email: string;
  password: string;
  code?: string;
  account?: string;
}

/** Describes a session for the page. */
function describeSession({ user, accountName, csrfToken, expiresAtMs }: Session): object {
  return {
    user: describeUser(user),
    account: { id: user.accountId, name: accountName },
    csrf_token: csrfToken,
    environments: ['sandbox', 'live'],
    expires_at: formatInstant(expiresAtMs),
  };
}

/** Sets the cookie for a new session and returns the session's description. */
async function startSession(
  { users, cookie }: PanelDeps,
  reply: FastifyReply,
  sessionToken: string,
): Promise<object> {
  const session = await users.sessions.find(sessionToken);
  if (!session) throw new Error('The new session does not exist in the database.');
  cookie.set(reply, sessionToken, session.endsAtMs);
  return describeSession(session);
}

/** Returns the problem for a failed sign-in. */
function createSignInProblem(
  result: Exclude<SignInResult, { sessionToken: string }>,
): ProblemError {
  switch (result.failure) {
    case 'locked':
      return new ProblemError(
        'rate_limited',
        `Too many failed attempts: try again in ${result.waitS} seconds.`,
        { retryAfterS: result.waitS },
      );
    case 'account_required':
      return new ProblemError(
        'account_required',
        `This password opens several accounts. Enter the id of one of them: ${result.accountIds.join(', ')}.`,
      );
    case 'code_required':
      return new ProblemError('code_required', 'Enter the code from your authenticator app.');
    default:
      return new ProblemError('sign_in_failed', 'The e-mail, password or code is wrong.');
  }
}

/**
 * Applies the rate limit and the origin check on routes without a session. Must be called before the body is read,
 * because anyone can send one.
 */
export function checkUnauthenticated(
  { limiter, publicUrl }: PanelDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  limiter.onUnauthenticated(request, reply);
  checkSameOrigin(request, publicUrl());
}

/** Adds `/panel/api/session`, which signs users in and out. */
export function addSessionRoutes(app: FastifyInstance, deps: PanelDeps): void {
  const { users, cookie, database } = deps;
  const url = '/panel/api/session';
  app.get(url, { schema: { hide: true }, config: { panel: 'account' } }, async (request) =>
    describeSession(getSession(request)),
  );
  app.post<{ Body: Credentials }>(
    url,
    {
      bodyLimit,
      schema: {
        hide: true,
        body: strictBody(
          {
            email: emailSchema,
            password: textSchema(200),
            code: textSchema(20),
            account: textSchema(64),
          },
          ['email', 'password'],
        ),
      },
      onRequest: async (request, reply) => checkUnauthenticated(deps, request, reply),
    },
    async (request, reply) => {
      const result = await users.signIn.byPassword({
        ...request.body,
        ip: ipGroup(request.ip),
      });
      if ('failure' in result) {
        if (result.failure === 'sign_in_failed' || result.failure === 'locked')
          request.log.warn({ reason: result.failure, ip: request.ip }, 'sign-in failed');
        throw createSignInProblem(result);
      }
      // A new sign-in ends the browser's previous session.
      const previousToken = cookie.read(request);
      if (previousToken !== undefined) await users.sessions.end(database, previousToken);
      return startSession(deps, reply, result.sessionToken);
    },
  );
  addConfirmation(app, deps);
  app.delete(
    url,
    { schema: { hide: true }, config: { panel: 'account', role: 'viewer' } },
    async (request, reply) => {
      await users.sessions.end(database, getSession(request).token);
      cookie.clear(reply);
      return reply.code(204).send();
    },
  );
}

/** Verifies the password, so that nobody can take over the account from an unattended browser or with a stolen cookie. */
async function confirmPassword(
  { users }: PanelDeps,
  request: FastifyRequest,
  credentials: { password: string; code?: string },
  requiresCode: boolean,
): Promise<void> {
  const options = { ip: ipGroup(request.ip), requiresCode };
  const result = await users.signIn.confirm(getSession(request).user, credentials, options);
  if (!result || !('failure' in result)) return;
  // The status is not 401, because the page would then sign the user out even though the session is still valid.
  if (result.failure === 'sign_in_failed')
    throw new ProblemError(
      'invalid_request',
      requiresCode ? 'The password or the code is wrong.' : 'The password is wrong.',
    );
  if (result.failure === 'code_required')
    throw new ProblemError(
      'confirmation_required',
      'Enter the code from your authenticator app too.',
    );
  throw createSignInProblem(result);
}

/** Adds `/panel/api/session/confirmation`, where a signed-in user enters the password again before using a power. */
function addConfirmation(app: FastifyInstance, deps: PanelDeps): void {
  app.post<{ Body: { password: string; code?: string } }>(
    '/panel/api/session/confirmation',
    {
      bodyLimit,
      config,
      schema: {
        hide: true,
        body: strictBody({ password: textSchema(200), code: textSchema(20) }, ['password']),
      },
    },
    async (request, reply) => {
      await confirmPassword(deps, request, request.body, true);
      await deps.users.sessions.confirm(getSession(request).token);
      return reply.code(204).send();
    },
  );
}

interface Setup {
  token: string;
  email: string;
  name: string;
  password: string;
}

const describeLink = ({ user }: Link): object =>
  user ? { email: user.email, name: user.name, role: user.role } : { role: 'owner' };

/** Adds `/panel/api/setup`, where a single-use link creates the first owner or sets an invited user's password. */
export function addSetupRoutes(app: FastifyInstance, deps: PanelDeps): void {
  const { users, limiter } = deps;
  const url = '/panel/api/setup';
  app.get<{ Querystring: { token: string } }>(
    url,
    {
      schema: { hide: true, querystring: strictBody({ token: textSchema(100) }, ['token']) },
      onRequest: async (request, reply) => checkUnauthenticated(deps, request, reply),
    },
    async (request, reply) => {
      const takeBack = limiter.onUnknownCredential(request, reply);
      const link = await users.links.find(request.query.token);
      if (!link)
        throw new ProblemError('not_found', 'The link has already been used or has expired.');
      takeBack();
      return describeLink(link);
    },
  );
  app.post<{ Body: Setup }>(
    url,
    {
      bodyLimit,
      schema: {
        hide: true,
        body: strictBody(
          {
            token: textSchema(100),
            email: emailSchema,
            name: personNameSchema,
            password: newPasswordSchema,
          },
          ['token', 'email', 'name', 'password'],
        ),
      },
      onRequest: async (request, reply) => checkUnauthenticated(deps, request, reply),
    },
    async (request, reply) => {
      const { token, ...person } = request.body;
      const takeBack = limiter.onUnknownCredential(request, reply);
      const user = await users.links.redeem(token, person);
      takeBack();
      const sessionToken = await users.signIn.beginByLink(user, ipGroup(request.ip));
      return startSession(deps, reply, sessionToken);
    },
  );
}

/** Adds `/panel/api/account`, where users change their own password and one-time codes. */
export function addAccountRoutes(app: FastifyInstance, deps: PanelDeps): void {
  const { users } = deps;
  const confirm = (request: FastifyRequest, password: string) =>
    confirmPassword(deps, request, { password }, false);
  app.post<{ Body: { current: string; next: string } }>(
    '/panel/api/account/password',
    {
      bodyLimit,
      config,
      schema: {
        hide: true,
        body: strictBody({ current: textSchema(200), next: newPasswordSchema }, [
          'current',
          'next',
        ]),
      },
    },
    async (request, reply) => {
      await confirm(request, request.body.current);
      const user = getSession(request).user;
      return startSession(
        deps,
        reply,
        await users.ownAccount.changePassword(user, request.body.next),
      );
    },
  );
  app.post(
    '/panel/api/account/codes',
    { bodyLimit, config: codesConfig, schema: { hide: true } },
    async (request) => {
      const { secret, otpauthUrl } = await users.ownAccount.startCodeSetup(
        getSession(request).user,
      );
      return { secret, otpauth_url: otpauthUrl };
    },
  );
  app.post<{ Body: { code: string } }>(
    '/panel/api/account/codes/confirm',
    {
      bodyLimit,
      config: codesConfig,
      schema: { hide: true, body: strictBody({ code: textSchema(20) }, ['code']) },
    },
    async (request, reply) => {
      await users.ownAccount.confirmCodeSetup(getSession(request).user, request.body.code);
      return reply.code(204).send();
    },
  );
  app.delete<{ Body: { password: string } }>(
    '/panel/api/account/codes',
    {
      bodyLimit,
      config,
      schema: { hide: true, body: strictBody({ password: textSchema(200) }, ['password']) },
    },
    async (request, reply) => {
      await confirm(request, request.body.password);
      await users.ownAccount.disableCodes(getSession(request).user);
      return reply.code(204).send();
    },
  );
}
