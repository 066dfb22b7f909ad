import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type {
  Environment,
  KeyPrincipal,
  Principal,
  SessionPrincipal,
} from '../../access/principal.ts';
import { ProblemError } from '../problem.ts';
import {
  createTokenBuckets,
  type Rate,
  type TakeResult,
  type TokenBuckets,
} from './token-buckets.ts';

/** The rate limits, by subject. */
export interface RateLimits {
  /** Requests per key, for keys without a limit of their own. */
  key: Record<Environment, Rate>;
  /** The highest limit that a key may have. */
  keyCeiling: Rate;
  /** Requests per IP. Applies to requests with a publishable key and requests without a valid key. */
  address: Rate;
  /** Decisions per user. */
  user: Record<Environment, Rate>;
  /** New guest players per IP. */
  guests: Rate;
  waits: WaitLimits;
}

type Client = Pick<FastifyRequest, 'ip'>;
type ReplyHeaders = Pick<FastifyReply, 'getHeader' | 'header'>;

/** Rejects excess requests with status 429. The headers of every response describe the tightest limit. */
export interface RateLimiter {
  /** Counts a request with a valid key. */
  onKey(principal: KeyPrincipal, client: Client, reply: ReplyHeaders): void;
  /** Counts a request without a valid key. */
  onUnauthenticated(client: Client, reply: ReplyHeaders): void;
  /**
   * Counts a lookup of a credential that this process has not seen before, such as a session's token, before it costs
   * the database a statement. The returned function takes the count back; call it if the credential exists.
   */
  onUnknownCredential(client: Client, reply: ReplyHeaders): () => void;
  /** Counts a request with a panel session, for all of the user's sessions together. */
  onSession(principal: Pick<SessionPrincipal, 'accountId' | 'userId'>, reply: ReplyHeaders): void;
  /** Counts a decision for a user. */
  onUser(principal: Principal, userRef: string, reply: ReplyHeaders): void;
  /** Counts a spend by a player. */
  onSpend(principal: Principal, playerRef: string, reply: ReplyHeaders): void;
  /** Counts a new guest player. */
  onGuest(client: Client, reply: ReplyHeaders): void;
  /** Counts a guess of a code for another device. The returned function takes the count back. */
  onLinkCode(principal: Principal, client: Client, reply: ReplyHeaders): () => void;
  /** Counts a long-polling request as open until the returned function is called. */
  onWait(principal: Principal, client: Client, decisionId: string): () => void;
}

/** The token buckets for each limit. */
type LimitBuckets = Record<
  'key' | 'address' | 'user' | 'guest' | 'link' | 'unknown' | 'session',
  TokenBuckets
>;

/** Lookups of credentials that don't exist, per IP. People mistype links and open old bookmarks a few times at most. */
const unknownCredentials: Rate = { perS: 0.2, burst: 10 };

/** Wrong codes for other devices, per account. At this rate, guessing one of 1,000 open codes takes seven years. */
const linkCodeGuesses: Rate = { perS: 5, burst: 300 };

/** Requests per panel user. A page sends about ten requests when it opens and polls a few times a minute. */
const sessionRate: Rate = { perS: 20, burst: 300 };

export const createLimitBuckets = (limits: RateLimits, nowMs: () => number): LimitBuckets => ({
  key: createTokenBuckets(limits.key.live, nowMs),
  address: createTokenBuckets(limits.address, nowMs),
  user: createTokenBuckets(limits.user.live, nowMs),
  guest: createTokenBuckets(limits.guests, nowMs),
  link: createTokenBuckets(linkCodeGuesses, nowMs),
  unknown: createTokenBuckets(unknownCredentials, nowMs),
  session: createTokenBuckets(sessionRate, nowMs),
});

/** Returns the key's own limit, capped at the ceiling, or the default limit for the key's environment. */
function findKeyRate(
  { key, keyCeiling }: RateLimits,
  { environment, rateLimit }: Pick<KeyPrincipal, 'environment' | 'rateLimit'>,
): Rate {
  if (!rateLimit) return key[environment];
  return {
    perS: Math.min(rateLimit.perS, keyCeiling.perS),
    burst: Math.min(rateLimit.burst, keyCeiling.burst),
  };
}

/**
 * Creates a rate limiter. Without limits, only the number of long-polling requests is bounded, to protect the process.
 */
export function createRateLimiter(
  limits: RateLimits | undefined,
  buckets: LimitBuckets | undefined,
): RateLimiter {
  const waits = createConcurrentWaits(limits?.waits);
  const onWait: RateLimiter['onWait'] = (principal, client, decisionId) =>
    waits.enter({
      decisionId,
      keyId: principal.kind === 'session' ? principal.userId : principal.keyId,
      address: principal.kind === 'pk' ? ipGroup(client.ip) : undefined,
    });
  if (!limits || !buckets) {
    const noop = () => undefined;
    return {
      onKey: noop,
      onUnauthenticated: noop,
      onUnknownCredential: () => noop,
      onSession: noop,
      onUser: noop,
      onSpend: noop,
      onGuest: noop,
      onLinkCode: () => noop,
      onWait,
    };
  }
  const take = (
    reply: ReplyHeaders,
    description: string,
    bucket: TokenBuckets,
    name: string,
    rate?: Rate,
  ): void => {
    const result = bucket.take(name, rate);
    setHeaders(reply, result);
    if (result.allowed) return;
    throw new ProblemError('rate_limited', `Too many requests ${description}.`, {
      retryAfterS: Math.max(1, result.resetS),
    });
  };
  const onUnauthenticated: RateLimiter['onUnauthenticated'] = ({ ip }, reply) =>
    take(reply, 'from this IP', buckets.address, ipGroup(ip));
  const onUnknownCredential: RateLimiter['onUnknownCredential'] = ({ ip }, reply) => {
    const name = ipGroup(ip);
    take(reply, 'with unknown credentials from this IP', buckets.unknown, name);
    return () => buckets.unknown.giveBack(name);
  };
  return {
    onKey(principal, client, reply) {
      const rate = findKeyRate(limits, principal);
      take(reply, 'with this key', buckets.key, principal.keyId, rate);
      if (principal.kind === 'pk') onUnauthenticated(client, reply);
    },
    onUnauthenticated,
    onUnknownCredential,
    onSession({ accountId, userId }, reply) {
      take(reply, 'by this user', buckets.session, `${accountId} ${userId}`);
    },
    onUser({ accountId, environment }, userRef, reply) {
      const name = `${accountId} ${environment} ${userRef}`;
      take(reply, 'for this user', buckets.user, name, limits.user[environment]);
    },
    onSpend({ accountId, environment }, playerRef, reply) {
      const name = `${accountId} ${environment} ${playerRef} spend`;
      take(reply, 'for this user', buckets.user, name, limits.user[environment]);
    },
    onLinkCode({ accountId }, client, reply) {
      const giveBack = onUnknownCredential(client, reply);
      take(reply, 'with wrong codes in this account', buckets.link, accountId);
      return () => {
        giveBack();
        buckets.link.giveBack(accountId);
      };
    },
    onGuest({ ip }, reply) {
      take(reply, 'for new players from this IP', buckets.guest, ipGroup(ip));
    },
    onWait,
  };
}

/** Sets the headers for this limit, unless they already describe a tighter limit. */
function setHeaders(reply: ReplyHeaders, { limit, remaining, resetS }: TakeResult): void {
  const currentRemaining = reply.getHeader('ratelimit-remaining');
  if (typeof currentRemaining === 'number' && currentRemaining <= remaining) return;
  void reply.header('ratelimit-limit', limit);
  void reply.header('ratelimit-remaining', remaining);
  void reply.header('ratelimit-reset', resetS);
}

/**
 * Returns the subject of per-IP limits: an IPv4 address, or the /64 prefix of an IPv6 address. Providers assign at
 * least a /64 to each customer, so one device can use 2^64 addresses.
 */
export function ipGroup(ip: string): string {
  // Fast path: most addresses are IPv4, which need no parsing.
  if (!ip.includes(':')) return ip;
  if (!ipaddr.IPv6.isValid(ip)) return ip;
  const parsed = ipaddr.IPv6.parse(ip);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const prefix = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

/** Limits on concurrent long-polling requests. Without them, only the total and the number per decision are limited. */
interface WaitLimits {
  /** Per key. */
  key: number;
  /** Per IP, with a publishable key. */
  address: number;
}

/** The subjects to which the limits on a long-polling request apply. */
interface WaitSubject {
  decisionId: string;
  keyId: string;
  /** The client's IP; undefined for a secret key, because the client is then the customer's server. */
  address: string | undefined;
}

/** Limits the number of concurrent long-polling requests. */
interface ConcurrentWaits {
  /**
   * Counts a request until the returned function is called.
   *
   * @throws ProblemError `rate_limited` when a limit is reached.
   */
  enter(subject: WaitSubject): () => void;
}

/**
 * Maximum number of waiting requests per decision. Normally, only one tab waits for a decision, but the service may be
 * slow to notice that a client has disconnected.
 */
const maxPerDecision = 4;
const maxTotal = 10_000;
const retryAfterS = 5;

function createConcurrentWaits(limits: WaitLimits | undefined): ConcurrentWaits {
  const counts = new Map<string, number>();
  const orUnlimited = (limit: number | undefined): number => limit ?? Infinity;
  return {
    enter({ decisionId, keyId, address }) {
      type Count = [name: string, limit: number, description: string];
      const countedLimits: Count[] = [
        ['all', maxTotal, ''],
        [`decision ${decisionId}`, maxPerDecision, ' for this decision'],
        [`key ${keyId}`, orUnlimited(limits?.key), ' with this key'],
        ...(address === undefined
          ? []
          : [
              [`address ${address}`, orUnlimited(limits?.address), ' from this IP'] satisfies Count,
            ]),
      ];
      for (const [name, limit, description] of countedLimits) {
        if ((counts.get(name) ?? 0) < limit) continue;
        throw new ProblemError(
          'rate_limited',
          `${limit} requests are already waiting${description}; omit wait_s, or send fewer such requests at a time.`,
          { retryAfterS },
        );
      }
      for (const [name] of countedLimits) counts.set(name, (counts.get(name) ?? 0) + 1);
      let isCounted = true;
      return () => {
        if (!isCounted) return;
        isCounted = false;
        for (const [name] of countedLimits) {
          const remaining = (counts.get(name) ?? 0) - 1;
          if (remaining > 0) counts.set(name, remaining);
          else counts.delete(name);
        }
      };
    },
  };
}
