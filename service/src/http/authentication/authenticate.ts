import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hashKey, parseKeyText, type KeyKind } from '../../key/key-text.ts';
import type { KeyPrincipal, Principal } from '../../key/principal.ts';
import type { Clock } from '../../platform/clock.ts';
import { allowOrigin } from './origins.ts';
import { ProblemError } from '../problems/problem.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
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
}

/** Hashes of keys that exist are kept by their header, since it comes with every request; so many at most. */
const mostHashes = 10_000;

/**
 * Authenticates a request by its API key.
 *
 * @throws ProblemError when the key is missing, invalid, not permitted on this route, or over its rate limit.
 */
type AdmitKey = (
  request: FastifyRequest,
  reply: FastifyReply,
  keys: readonly KeyKind[],
) => Promise<KeyPrincipal>;

export function createAdmitKey(parts: Parts): AdmitKey {
  const hashes = new Map<string, string>();
  return async (request, reply, keys) => {
    const { origin } = request.headers;
    if (origin !== undefined && keys.includes('pk')) allowOrigin(reply, origin);
    let principal: KeyPrincipal;
    try {
      principal = readKey(parts, hashes, request);
      if (origin !== undefined) {
        if (principal.kind === 'sk') await refuseLeak(parts, principal, origin, request);
        checkOrigin(principal, origin);
      }
    } catch (error) {
      parts.limiter.onStranger(request, reply);
      throw error;
    }
    parts.limiter.onKey(principal, request, reply);
    if (!keys.includes(principal.kind)) {
      throw new ProblemError(
        'key_not_permitted',
        principal.kind === 'pk'
          ? 'A publishable key may ask for decisions and report events; this needs a secret key, on a server.'
          : 'This is for publishable keys.',
      );
    }
    parts.onUse(principal);
    return principal;
  };
}

/** Adds to every route with `config.keys` the check of its key, before the body is read. */
export function addAuthentication(
  app: FastifyInstance,
  admitKey: AdmitKey,
  sessions: SessionAccess,
): void {
  app.decorateRequest('principal', null);
  app.addHook('onRequest', async (request, reply) => {
    const { keys } = request.routeOptions.config;
    if (!keys) return;
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && cookie !== undefined && takesSessions(request, keys)) {
      request.principal = (await sessions.admit(request, reply)) ?? null;
    }
    request.principal ??= await admitKey(request, reply, keys);
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

function readKey(
  { clock, findKey }: Parts,
  hashes: Map<string, string>,
  { headers }: FastifyRequest,
): KeyPrincipal {
  const { authorization = '' } = headers;
  const known = hashes.get(authorization);
  const text = known === undefined ? bearerKey(authorization) : '';
  const hash = known ?? hashKey(text);
  const principal = findKey(hash);
  if (!principal) throw new ProblemError('key_unknown', 'There is no such key.');
  if (known === undefined && hashes.size < mostHashes) hashes.set(usualHeader(text), hash);
  if (principal.revokedAtMs !== undefined && principal.revokedAtMs <= clock.nowMs()) {
    throw new ProblemError('key_revoked', 'The key has been revoked.');
  }
  return principal;
}

/** The one spelling that is remembered, as a text of its own: a part of a text keeps the whole. */
const usualHeader = (key: string): string => Buffer.from(`Bearer ${key}`).toString();

function bearerKey(authorization: string): string {
  const text = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (text === undefined) {
    throw new ProblemError(
      'authentication_required',
      'Send the header `Authorization: Bearer <key>`.',
    );
  }
  if (parseKeyText(text) === undefined) {
    throw new ProblemError(
      'key_malformed',
      'This is not a key: its form or its checksum is wrong.',
    );
  }
  return text;
}

async function refuseLeak(
  { onLeak }: Parts,
  principal: KeyPrincipal,
  origin: string,
  { id, log }: FastifyRequest,
): Promise<never> {
  log.warn({ keyId: principal.keyId, origin }, 'a secret key was used in a browser: rotate it');
  await onLeak(principal, origin, id);
  throw new ProblemError(
    'secret_key_in_browser',
    'A secret key came from a web page, so it has leaked: rotate it now.',
  );
}

function checkOrigin({ allowedOrigins }: KeyPrincipal, origin: string): void {
  if (!allowedOrigins.includes('*') && !allowedOrigins.includes(origin)) {
    throw new ProblemError('origin_not_allowed', `The key does not allow the origin ${origin}.`);
  }
}
