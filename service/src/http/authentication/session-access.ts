import { BoundedMap } from '../../platform/bounded-map.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Environment,
  includesRole,
  type Role,
  type SessionPrincipal,
} from '../../access/principal.ts';
import { confirmedForMs, type Power, powers } from '../../access/powers.ts';
import { hashToken, type Session, type Sessions } from '../../access/sessions.ts';
import type { Clock } from '../../platform/time.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { ProblemError } from '../problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Requires a panel session. With `environment`, the request must also specify an environment. */
    panel?: 'account' | 'environment';
    /** The required role; by default, viewer for reads and operator for writes. */
    role?: Role;
    /** What the route lets a user do that requires a recent password check. */
    power?: Power;
  }
  interface FastifyRequest {
    session: OpenSession | null;
  }
}

/** A session and its token. */
interface OpenSession extends Session {
  token: string;
}

interface Deps {
  sessions: Sessions;
  cookie: BrowserCookie;
  limiter: RateLimiter;
  clock: Clock;
  /** The service's public URL. */
  publicUrl(): string;
}

/** Authenticates panel sessions and enforces their roles. */
export interface SessionAccess {
  /**
   * Authenticates a request that has no key. Resolves to undefined if the request has no session.
   *
   * @throws ProblemError when the session has ended, its role is insufficient, or the request comes from a page on
   * another origin.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<SessionPrincipal | undefined>;
}

/** Maximum number of remembered sessions. */
const maxKnownSessions = 10_000;

export function createSessionAccess({
  sessions,
  cookie,
  limiter,
  clock,
  publicUrl,
}: Deps): SessionAccess {
  /**
   * Hashes of the tokens that this process has found. Guesses from the same IP can't lock these sessions out, and their
   * requests don't count as guesses. Whether they still exist is checked in the database.
   */
  const knownSessions = new BoundedMap<string, true>(maxKnownSessions);
  /** Running lookups of other tokens. A page sends several requests at once. */
  const lookups = new Map<string, Promise<Session | undefined>>();

  const find = async (
    token: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Session | undefined> => {
    const name = hashToken(token);
    if (knownSessions.has(name)) {
      const session = await sessions.find(token);
      if (!session) knownSessions.delete(name);
      return session;
    }
    const running = lookups.get(name);
    if (running) return running;
    const takeBack = limiter.onUnknownCredential(request, reply);
    const lookup = sessions.find(token).finally(() => lookups.delete(name));
    lookups.set(name, lookup);
    const session = await lookup;
    if (!session) return undefined;
    takeBack();
    knownSessions.set(name, true);
    return session;
  };

  return {
    async admit(request, reply) {
      const token = cookie.read(request);
      if (token === undefined) return undefined;
      void reply.header('cache-control', 'no-store');
      checkSameOrigin(request, publicUrl());
      const session = await find(token, request, reply);
      if (!session) {
        limiter.onUnauthenticated(request, reply);
        throw new ProblemError('authentication_required', 'The session has ended: sign in again.');
      }
      const { accountId, id: userId, email, role } = session.user;
      limiter.onSession({ accountId, userId }, reply);
      if (request.method !== 'GET') requireCsrfToken(request, session);
      checkRole(request, session);
      checkPower(request, session, clock.nowMs());
      request.session = { ...session, token };
      const environment = readEnvironment(request);
      return { kind: 'session', accountId, environment, userId, email, role };
    },
  };
}

/** Requires a session on every route that has `config.panel`, before the body is read. */
export function addSessionCheck(app: FastifyInstance, access: SessionAccess): void {
  app.addHook('onRequest', async (request, reply) => {
    // Responses contain user and account data, so they must not be cached.
    void reply.header('cache-control', 'no-store');
    if (!request.routeOptions.config.panel) return;
    const principal = await access.admit(request, reply);
    if (!principal) throw new ProblemError('authentication_required', 'Sign in first.');
    request.principal = principal;
  });
}

/** Returns a request's session. The route must have `config.panel`. */
export function getSession(request: FastifyRequest): OpenSession {
  if (!request.session)
    throw new Error(`The route ${request.routeOptions.url} does not require a session.`);
  return request.session;
}

function requireCsrfToken(request: FastifyRequest, session: Session): void {
  const header = request.headers['trueward-csrf'];
  if (typeof header === 'string' && timingSafeEqual(digest(header), digest(session.csrfToken)))
    return;
  throw new ProblemError(
    'csrf_failed',
    'Send the `csrf_token` of the session in the header `Trueward-Csrf`.',
  );
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** @throws ProblemError when the route requires a higher role. */
export function checkRole(request: FastifyRequest, { user }: Session): void {
  const { role: configuredRole } = request.routeOptions.config;
  const requiredRole = configuredRole ?? (request.method === 'GET' ? 'viewer' : 'operator');
  if (includesRole(user.role, requiredRole)) return;
  throw new ProblemError(
    'role_not_permitted',
    `This requires the ${requiredRole} role; yours is ${user.role}. An owner can change your role.`,
  );
}

/** The only guard for powers: every route that has one passes it. */
function checkPower(request: FastifyRequest, { confirmedAtMs }: Session, nowMs: number): void {
  const { power } = request.routeOptions.config;
  if (power === undefined || nowMs - confirmedAtMs < confirmedForMs) return;
  throw new ProblemError(
    'confirmation_required',
    `To ${powers[power]}, enter your password again: POST /panel/api/session/confirmation.`,
  );
}

/** Returns the request's environment. Account-wide changes are treated as changes in `live`. */
function readEnvironment(request: FastifyRequest): Environment {
  if (request.routeOptions.config.panel === 'account') return 'live';
  const name = request.headers['trueward-environment'];
  if (name === 'sandbox' || name === 'live') return name;
  throw new ProblemError(
    'invalid_request',
    'Set the header `Trueward-Environment` to sandbox or live.',
  );
}

/** A cookie of the panel. */
export interface BrowserCookie {
  read(request: FastifyRequest): string | undefined;
  set(reply: FastifyReply, value: string, expiresAtMs: number): void;
  clear(reply: FastifyReply): void;
}

/**
 * Creates a cookie that scripts cannot read and that is not sent with cross-site requests, except for navigations if it is
 * `Lax`. Over HTTPS, the cookie name
 * starts with `__Host-`. Browsers reject such a cookie if a subdomain or a plain HTTP response sets it (RFC 6265bis,
 * 4.1.3.2).
 *
 * @param publicUrl returns the service's public URL
 */
export function createCookie(
  publicUrl: () => string,
  plainName: string,
  sameSite: 'Strict' | 'Lax',
): BrowserCookie {
  const isSecure = () => publicUrl().startsWith('https:');
  const name = () => `${isSecure() ? '__Host-' : ''}${plainName}`;
  const attributes = () => `Path=/; HttpOnly; SameSite=${sameSite}${isSecure() ? '; Secure' : ''}`;
  return {
    read(request) {
      const prefix = `${name()}=`;
      return request.headers.cookie
        ?.split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(prefix))
        ?.slice(prefix.length);
    },
    set(reply, value, expiresAtMs) {
      const expires = new Date(expiresAtMs).toUTCString();
      void reply.header('set-cookie', `${name()}=${value}; ${attributes()}; Expires=${expires}`);
    },
    clear(reply) {
      void reply.header('set-cookie', `${name()}=; ${attributes()}; Max-Age=0`);
    },
  };
}

/** Creates the cookie that contains the session token. */
export const createSessionCookie = (publicUrl: () => string): BrowserCookie =>
  createCookie(publicUrl, 'trueward_session', 'Strict');

/**
 * Rejects cross-origin requests, to which a browser may attach the user's cookie. Accepts an `Origin` header that
 * matches either the public URL or the `Host` header, so that both `localhost` and `127.0.0.1` work. Web pages cannot
 * forge these headers.
 *
 * @throws ProblemError `csrf_failed`
 */
export function checkSameOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const { origin: ownOrigin, protocol } = new URL(publicUrl);
  const isRead = request.method === 'GET';
  const isOwnOrigin =
    (origin === undefined && isRead) || origin === ownOrigin || origin === `${protocol}//${host}`;
  const isSameSite = site === undefined || site === 'same-origin' || (isRead && site === 'none');
  if (isOwnOrigin && isSameSite) return;
  throw new ProblemError(
    'csrf_failed',
    `The request came from ${origin ?? 'an unknown origin'}; expected ${ownOrigin}. If that is the origin of your panel, set PUBLIC_URL to it.`,
  );
}
