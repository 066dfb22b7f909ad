import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type PendingSignIn,
  type SingleSignOn,
  SingleSignOnError,
} from '../../access/single-sign-on.ts';
import { createCookie } from '../authentication/session-access.ts';
import { ipGroup } from '../limits/rate-limits.ts';
import { ProblemError } from '../problem.ts';
import { type PanelDeps, strictBody, textSchema } from './panel-deps.ts';
import { checkUnauthenticated } from './sign-in.ts';

const url = '/panel/api/single-sign-on';
/** How long a person may take at the provider. */
const pendingForMs = 15 * 60_000;
/** A page of the panel. It is only ever used behind `#`, so it can't lead to another site. */
const pagePattern = "^/(?!/)[\\w/?&=%.,:+*~!'()-]*$";

/** What the browser keeps while its user is at the provider. */
interface Pending extends PendingSignIn {
  /** The page of the panel to show afterwards. */
  page: string;
  account?: string;
}

interface StartQuery {
  page?: string;
  account?: string;
  fresh?: 'true';
}

/**
 * Adds `/panel/api/single-sign-on`, where users sign in at the operator's OpenID provider. `start` sends the browser there,
 * and the provider sends it back to `callback`. Both are pages for people, so failures lead to the sign-in page.
 */
export function addSingleSignOn(app: FastifyInstance, deps: PanelDeps): void {
  const { users, publicUrl, clock } = deps;
  // The provider's redirect is a cross-site navigation, with which browsers send no Strict cookies.
  const pendingCookie = createCookie(publicUrl, 'trueward_sign_in', 'Lax');
  const redirectUrl = () => `${publicUrl()}${url}/callback`;
  const provider = (): SingleSignOn => {
    if (users.singleSignOn) return users.singleSignOn;
    throw new ProblemError(
      'not_found',
      'Single sign-on is off: set OIDC_ISSUER and OIDC_CLIENT_ID.',
    );
  };

  app.get(
    url,
    {
      schema: { hide: true },
      onRequest: async (request, reply) => checkUnauthenticated(deps, request, reply),
    },
    async () => ({ provider: users.singleSignOn ? { name: users.singleSignOn.name } : null }),
  );

  app.get<{ Querystring: StartQuery }>(
    `${url}/start`,
    {
      schema: {
        hide: true,
        querystring: strictBody(
          {
            page: { ...textSchema(500), pattern: pagePattern },
            account: textSchema(64),
            fresh: { type: 'string', const: 'true' },
          },
          [],
        ),
      },
      // Only the panel may start a sign-in, so that no other site signs a browser in.
      onRequest: async (request, reply) => checkUnauthenticated(deps, request, reply),
    },
    async (request, reply) => {
      const { page = '/', account, fresh } = request.query;
      try {
        const { url: providerUrl, pending } = await provider().begin({
          redirectUrl: redirectUrl(),
          isFresh: fresh !== undefined,
        });
        const kept: Pending = { ...pending, page, ...(account === undefined ? {} : { account }) };
        const text = Buffer.from(JSON.stringify(kept)).toString('base64url');
        pendingCookie.set(reply, text, clock.nowMs() + pendingForMs);
        return await reply.redirect(providerUrl.href);
      } catch (error) {
        return showFailure(request, reply, error);
      }
    },
  );

  app.get<{ Querystring: { state?: unknown } }>(
    `${url}/callback`,
    {
      schema: { hide: true },
      onRequest: async (request, reply) => deps.limiter.onUnauthenticated(request, reply),
    },
    async (request, reply) => {
      const signOn = provider();
      const pending = readPending(pendingCookie.read(request));
      // A later start, in another tab, stays pending.
      if (!pending || pending.state !== request.query.state)
        return showSignIn(reply, { reason: 'expired' });
      // Each start can be finished once.
      pendingCookie.clear(reply);
      const takeBack = deps.limiter.onUnknownCredential(request, reply);
      try {
        const identity = await signOn.finish(new URL(request.url, redirectUrl()), pending);
        takeBack();
        const { account } = pending;
        const result = await users.signIn.bySingleSignOn({
          ...identity,
          ...(account === undefined ? {} : { account }),
          ip: ipGroup(request.ip),
        });
        if ('failure' in result) {
          return await showSignIn(reply, {
            page: pending.page,
            ...(result.failure === 'account_required'
              ? { reason: 'account_required', accounts: result.accountIds.join(',') }
              : { reason: 'unknown_user' }),
          });
        }
        const session = await users.sessions.find(result.sessionToken);
        if (!session) throw new Error('The new session does not exist in the database.');
        deps.cookie.set(reply, result.sessionToken, session.endsAtMs);
        return await reply.redirect(`${publicUrl()}/panel/#${pending.page}`);
      } catch (error) {
        return showFailure(request, reply, error);
      }
    },
  );

  function showFailure(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    if (!(error instanceof SingleSignOnError)) throw error;
    const { reason, message } = error;
    request.log.warn({ reason, ip: request.ip, message }, 'single sign-on failed');
    return showSignIn(reply, { reason });
  }

  /** Shows the panel's sign-in page, with the reason why the person isn't signed in. */
  function showSignIn(reply: FastifyReply, parameters: Record<string, string>): FastifyReply {
    return reply.redirect(`${publicUrl()}/panel/#/login?${new URLSearchParams(parameters)}`);
  }
}

/** Reads what the browser kept. It may be anything that somebody wrote into the cookie. */
function readPending(text: string | undefined): Pending | undefined {
  if (text === undefined || text.length > 2_000) return undefined;
  let kept: Partial<Record<keyof Pending, unknown>> | null;
  try {
    kept = JSON.parse(Buffer.from(text, 'base64url').toString()) as typeof kept;
  } catch {
    return undefined;
  }
  const { state, nonce, verifier, page, account } = kept ?? {};
  if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string')
    return undefined;
  return {
    state,
    nonce,
    verifier,
    page: typeof page === 'string' && new RegExp(pagePattern).test(page) ? page : '/',
    ...(typeof account === 'string' ? { account } : {}),
  };
}
