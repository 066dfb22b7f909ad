import { BoundedMap } from '../../platform/bounded-map.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hashKey, parseKeyText } from '../../access/key-store.ts';
import type { KeyKind, KeyPrincipal, Principal } from '../../access/principal.ts';
import type { Clock } from '../../platform/time.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { ProblemError } from '../problem.ts';
import type { SessionAccess } from './session-access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The kinds of keys that the route accepts; if absent, the route is public. */
    keys?: readonly KeyKind[];
  }
  interface FastifyRequest {
    principal: Principal | null;
  }
}

interface Deps {
  clock: Clock;
  findKey(hash: string): KeyPrincipal | undefined;
  /** Whether all keys are known. */
  isComplete(): boolean;
  limiter: RateLimiter;
  /** Called for every request with a valid key. */
  onUse(principal: KeyPrincipal, origin: string | undefined): void;
  /** Called when a web page sends a secret key. Resolves when the leak has been recorded, to whether it was news. */
  onLeak(principal: KeyPrincipal, origin: string, requestId: string): Promise<boolean>;
}

/**
 * Maximum number of cached key hashes. The cache is keyed by `Authorization` header and contains only existing keys.
 */
const maxHashes = 10_000;

/**
 * Authenticates a request by its API key. Returns a promise only if authentication is asynchronous.
 *
 * @throws ProblemError when the key is missing, invalid, not permitted on this route, or over its rate limit.
 */
type AdmitKey = (
  request: FastifyRequest,
  reply: FastifyReply,
  keys: readonly KeyKind[],
) => KeyPrincipal | Promise<KeyPrincipal>;

export function createAdmitKey(deps: Deps): AdmitKey {
  const hashes = new BoundedMap<string, string>(maxHashes);
  return (request, reply, keys) => {
    const { origin } = request.headers;
    if (origin !== undefined && keys.includes('pk')) allowOrigin(reply, origin);
    let principal: KeyPrincipal;
    try {
      principal = readKey(deps, hashes, request);
      if (origin !== undefined && principal.kind === 'pk') checkOrigin(principal, origin);
    } catch (error) {
      deps.limiter.onUnauthenticated(request, reply);
      throw error;
    }
    if (origin !== undefined && principal.kind === 'sk') {
      // Everybody who opens the page has this key.
      deps.limiter.onUnauthenticated(request, reply);
      return rejectLeak(deps, principal, origin, request);
    }
    deps.limiter.onKey(principal, request, reply);
    if (!keys.includes(principal.kind)) {
      throw new ProblemError(
        'key_not_permitted',
        principal.kind === 'pk'
          ? 'Publishable keys can only request decisions, report events and use a player’s own wallet. Send this request from your server, with a secret key.'
          : 'This endpoint accepts publishable keys only.',
      );
    }
    deps.onUse(principal, origin);
    return principal;
  };
}

/** Authenticates requests to routes that have `config.keys`, before the body is read. */
export function addAuthentication(
  app: FastifyInstance,
  admitKey: AdmitKey,
  sessions: SessionAccess,
): void {
  app.decorateRequest('principal', null);
  const authenticate = (
    request: FastifyRequest,
    reply: FastifyReply,
    keys: readonly KeyKind[],
  ): Principal | Promise<Principal> => {
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && cookie !== undefined && acceptsSessions(request, keys))
      return sessions
        .admit(request, reply)
        .then((principal) => principal ?? admitKey(request, reply, keys));
    return admitKey(request, reply, keys);
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { keys } = request.routeOptions.config;
    if (!keys) return done();
    const admit = (principal: Principal): void => {
      request.principal = principal;
      done();
    };
    const result = authenticate(request, reply, keys);
    if (result instanceof Promise) result.then(admit, done);
    else admit(result);
  });
}

/**
 * Whether the route accepts sessions. A session may read everything that a secret key may read. It may write only on
 * routes that reject publishable keys, because the panel never requests ads.
 */
const acceptsSessions = (request: FastifyRequest, keys: readonly KeyKind[]): boolean =>
  keys.includes('sk') && (request.method === 'GET' || !keys.includes('pk'));

/** Returns a request's principal. The route must have `config.keys` or `config.panel`. */
export function getPrincipal(request: FastifyRequest): Principal {
  if (request.principal === null)
    throw new Error(`The route ${request.routeOptions.url} does not require authentication.`);
  return request.principal;
}

function readKey(
  { clock, findKey, isComplete }: Deps,
  hashes: Map<string, string>,
  { headers }: FastifyRequest,
): KeyPrincipal {
  const { authorization = '' } = headers;
  const cachedHash = hashes.get(authorization);
  const text = cachedHash === undefined ? parseBearerKey(authorization) : '';
  const hash = cachedHash ?? hashKey(text);
  const principal = findKey(hash);
  if (!principal && !isComplete()) {
    // After a 401, clients would give up and drop their events.
    throw new ProblemError('unavailable', 'The keys could not be read from the database.', {
      retryAfterS: 5,
    });
  }
  if (!principal) throw new ProblemError('key_unknown', 'The API key does not exist.');
  if (cachedHash === undefined) hashes.set(makeCanonicalHeader(text), hash);
  if (principal.revokedAtMs !== undefined && principal.revokedAtMs <= clock.nowMs()) {
    throw new ProblemError('key_revoked', 'The key has been revoked.');
  }
  return principal;
}

/** Returns the canonical header as a new string. A substring would keep the whole original header in memory. */
const makeCanonicalHeader = (key: string): string => Buffer.from(`Bearer ${key}`).toString();

function parseBearerKey(authorization: string): string {
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
      /^[ps]k_(?:sandbox|live)_/.test(text)
        ? 'The API key’s checksum is wrong: a character is missing or mistyped. Copy the key again.'
        : 'Not an API key: one starts with pk_sandbox_, pk_live_, sk_sandbox_ or sk_live_. Copy the key again.',
    );
  }
  return text;
}

async function rejectLeak(
  { onLeak }: Deps,
  principal: KeyPrincipal,
  origin: string,
  { id, log }: FastifyRequest,
): Promise<never> {
  if (await onLeak(principal, origin, id))
    log.warn({ keyId: principal.keyId, origin }, 'a secret key was used in a browser: roll it');
  throw new ProblemError(
    'secret_key_in_browser',
    'A web page sent this secret key, so it has leaked: roll it now.',
  );
}

function checkOrigin({ allowedOrigins }: KeyPrincipal, origin: string): void {
  if (!allowedOrigins.includes('*') && !allowedOrigins.includes(origin)) {
    throw new ProblemError(
      'origin_not_allowed',
      `The origin ${origin} is not allowed for this key.`,
    );
  }
}

/**
 * Lets pages from this origin read the response. The key's allowed origins are checked on the actual request, because
 * preflight requests don't carry a key.
 */
function allowOrigin(reply: FastifyReply, origin: string): void {
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Request-Id, Retry-After',
    vary: 'Origin',
  });
}

/** Responds to CORS preflight requests for the routes that are added after this call and accept publishable keys. */
export function addPreflight(app: FastifyInstance): void {
  const urls = new Set<string>();
  app.addHook('onRoute', ({ config, url }) => {
    if (!config?.keys?.includes('pk') || urls.has(url)) return;
    urls.add(url);
    app.options(url, { schema: { hide: true } }, (request, reply) => {
      allowOrigin(reply, request.headers.origin ?? '*');
      return reply
        .headers({
          'access-control-allow-methods': 'GET, POST',
          // The star allows what a page's own `fetch` adds to every request, such as the headers of a tracing library.
          'access-control-allow-headers':
            'Authorization, Content-Type, Decision-Token, Player-Token, *',
          'access-control-max-age': '7200',
        })
        .code(204)
        .send();
    });
  });
}
