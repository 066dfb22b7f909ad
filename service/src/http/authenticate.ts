import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hashKey, parseKeyText, type KeyKind } from '../key/key-text.ts';
import type { KeyPrincipal, Principal } from '../key/principal.ts';
import type { Clock } from '../platform/clock.ts';
import { allowOrigin } from './cors.ts';
import { ProblemError } from './problem.ts';
import type { RateLimiter } from './rate-limits.ts';
import type { SessionAccess } from './session-access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The kinds of key that the route takes; absent: it is public. */
    keys?: readonly KeyKind[];
  }
  interface FastifyRequest {
    principal: Principal | null;
  }
}

interface Parts {
  clock: Clock;
  findKey(hash: string): KeyPrincipal | undefined;
  limiter: RateLimiter;
  /** Told of every request whose key is good. */
  onUse(principal: KeyPrincipal): void;
  /** Told of a secret key that came from a web page; resolves when it is recorded. */
  onLeak(principal: KeyPrincipal, origin: string, requestId: string): Promise<void>;
  sessions: SessionAccess;
}

/** Hashes of keys that exist are kept, since a key comes with every request; so many at most. */
const mostHashes = 10_000;

/** Adds to every route with `config.keys` the check of its key, before the body is read. */
export function addAuthentication(app: FastifyInstance, parts: Parts): void {
  app.decorateRequest('principal', null);
  const hashes = new Map<string, string>();
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { keys } = request.routeOptions.config;
    if (!keys) return;
    const { origin, authorization, cookie } = request.headers;
    if (authorization === undefined && cookie !== undefined && takesSessions(request, keys)) {
      const user = await parts.sessions.admit(request, reply);
      if (user) return void (request.principal = user);
    }
    if (origin !== undefined && keys.includes('pk')) allowOrigin(reply, origin);
    const principal = await authenticate(parts, hashes, authorization, request).catch(
      (error: unknown) => {
        parts.limiter.onStranger(request, reply);
        throw error;
      },
    );
    parts.limiter.onKey(principal, request, reply);
    if (!keys.includes(principal.kind)) {
      throw new ProblemError(
        'key_not_permitted',
        principal.kind === 'pk'
          ? 'A publishable key may ask for decisions and report events; this needs a secret key, on a server.'
          : 'This is for publishable keys.',
      );
    }
    request.principal = principal;
    parts.onUse(principal);
  });
}

/** The panel reads what secret keys read, and writes what only they write: it plays no ads. */
const takesSessions = (request: FastifyRequest, keys: readonly KeyKind[]): boolean =>
  keys.includes('sk') && (request.method === 'GET' || !keys.includes('pk'));

/** Who sent the request, on a route with `config.keys` or `config.panel`. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null)
    throw new Error(`The route ${request.routeOptions.url} names no keys.`);
  return request.principal;
}

async function authenticate(
  { clock, findKey, onLeak }: Parts,
  hashes: Map<string, string>,
  authorization: string | undefined,
  request: FastifyRequest,
): Promise<KeyPrincipal> {
  const match = /^Bearer +(\S+)$/i.exec(authorization ?? '');
  const text = match?.[1];
  if (text === undefined) {
    throw new ProblemError(
      'authentication_required',
      'Send the header `Authorization: Bearer <key>`.',
    );
  }
  const { origin } = request.headers;
  const known = hashes.get(text);
  if (known === undefined && parseKeyText(text) === undefined) {
    throw new ProblemError(
      'key_malformed',
      'This is not a key: its form or its checksum is wrong.',
    );
  }
  const hash = known ?? hashKey(text);
  const principal = findKey(hash);
  if (!principal) throw new ProblemError('key_unknown', 'There is no such key.');
  if (known === undefined && hashes.size < mostHashes) hashes.set(text, hash);
  if (principal.revokedAtMs !== undefined && principal.revokedAtMs <= clock.nowMs()) {
    throw new ProblemError('key_revoked', 'The key has been revoked.');
  }
  if (origin === undefined) return principal;
  if (principal.kind === 'sk') {
    request.log.warn(
      { keyId: principal.keyId, origin },
      'a secret key was used in a browser: rotate it',
    );
    await onLeak(principal, origin, request.id);
    throw new ProblemError(
      'secret_key_in_browser',
      'A secret key came from a web page, so it has leaked: rotate it now.',
    );
  }
  if (!principal.allowedOrigins.includes('*') && !principal.allowedOrigins.includes(origin)) {
    throw new ProblemError('origin_not_allowed', `The key does not allow the origin ${origin}.`);
  }
  return principal;
}
