import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Environment } from '../../key/key-text.ts';
import { includesRole, type Role, type SessionPrincipal } from '../../key/principal.ts';
import type { Session, Sessions } from '../../user/sessions.ts';
import { checkOrigin } from './origins.ts';
import { ProblemError } from '../problems/problem.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only for whoever is signed in to the panel; `environment`: the request has to name one. */
    panel?: 'account' | 'environment';
    /** What a user has to be; absent: a viewer for reading, otherwise an operator. */
    role?: Role;
  }
  interface FastifyRequest {
    session: OpenSession | null;
  }
}

/** A session, and the text that it is known by. */
interface OpenSession extends Session {
  text: string;
}

interface Parts {
  sessions: Sessions;
  cookie: SessionCookie;
  limiter: RateLimiter;
  /** The address that the service is known by. */
  address(): string;
}

/** Lets in who is signed in to the panel, with no more rights than their role has. */
export interface SessionAccess {
  /**
   * Whom a request without a key comes from; undefined: it has no session either.
   *
   * @throws ProblemError when the session has ended, may not do this, or the page is not ours.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<SessionPrincipal | undefined>;
}

export function createSessionAccess({ sessions, cookie, limiter, address }: Parts): SessionAccess {
  return {
    async admit(request, reply) {
      const text = cookie.read(request);
      if (text === undefined) return undefined;
      void reply.header('cache-control', 'no-store');
      checkOrigin(request, address());
      const session = await sessions.find(text);
      if (!session) {
        limiter.onStranger(request, reply);
        throw new ProblemError('authentication_required', 'The session has ended: sign in again.');
      }
      if (request.method !== 'GET') checkCsrfToken(request, session);
      checkRole(request, session);
      request.session = { ...session, text };
      const { accountId, id: userId, email, role } = session.user;
      const environment = readEnvironment(request);
      return { kind: 'session', accountId, environment, userId, email, role };
    },
  };
}

/** Adds to every route here with `config.panel` the check of its session, before the body is read. */
export function addSessionCheck(app: FastifyInstance, access: SessionAccess): void {
  app.addHook('onRequest', async (request, reply) => {
    // Who is signed in, and what they see, is for nobody's cache.
    void reply.header('cache-control', 'no-store');
    if (!request.routeOptions.config.panel) return;
    const principal = await access.admit(request, reply);
    if (!principal) throw new ProblemError('authentication_required', 'Sign in first.');
    request.principal = principal;
  });
}

/** The session of a request, on a route with `config.panel`. */
export function sessionOf(request: FastifyRequest): OpenSession {
  if (!request.session)
    throw new Error(`The route ${request.routeOptions.url} asks for no session.`);
  return request.session;
}

function checkCsrfToken(request: FastifyRequest, session: Session): void {
  const given = request.headers['trueward-csrf'];
  if (typeof given === 'string' && timingSafeEqual(digest(given), digest(session.csrfToken)))
    return;
  throw new ProblemError(
    'csrf_failed',
    'Send the `csrf_token` of the session in the header `Trueward-Csrf`.',
  );
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function checkRole(request: FastifyRequest, { user }: Session): void {
  const { role: named } = request.routeOptions.config;
  const needed = named ?? (request.method === 'GET' ? 'viewer' : 'operator');
  if (includesRole(user.role, needed)) return;
  throw new ProblemError(
    'role_not_permitted',
    `This needs the role ${needed}; you are ${user.role}. An owner can change it.`,
  );
}

/** What belongs to the whole account is written down under live. */
function readEnvironment(request: FastifyRequest): Environment {
  if (request.routeOptions.config.panel === 'account') return 'live';
  const name = request.headers['trueward-environment'];
  if (name === 'sandbox' || name === 'live') return name;
  throw new ProblemError(
    'invalid_request',
    'Say in the header `Trueward-Environment` whether you mean sandbox or live.',
  );
}

/** The cookie that holds the text of a session. */
export interface SessionCookie {
  read(request: FastifyRequest): string | undefined;
  set(reply: FastifyReply, text: string, expiresAtMs: number): void;
  clear(reply: FastifyReply): void;
}

/**
 * No script reads it and no other site sends it. Over https its name begins with `__Host-`, by which
 * browsers refuse one that a subdomain or a plain connection would plant (RFC 6265bis, 4.1.3.2).
 *
 * @param address The address that the service is known by.
 */
export function createSessionCookie(address: () => string): SessionCookie {
  const secure = () => address().startsWith('https:');
  const name = () => `${secure() ? '__Host-' : ''}trueward_session`;
  const attributes = () => `Path=/; HttpOnly; SameSite=Strict${secure() ? '; Secure' : ''}`;
  return {
    read(request) {
      const prefix = `${name()}=`;
      return request.headers.cookie
        ?.split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(prefix))
        ?.slice(prefix.length);
    },
    set(reply, text, expiresAtMs) {
      const expires = new Date(expiresAtMs).toUTCString();
      void reply.header('set-cookie', `${name()}=${text}; ${attributes()}; Expires=${expires}`);
    },
    clear(reply) {
      void reply.header('set-cookie', `${name()}=; ${attributes()}; Max-Age=0`);
    },
  };
}
