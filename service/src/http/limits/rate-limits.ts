import type { KeyPrincipal, Principal } from '../../key/principal.ts';
import type { AnswerHeaders, Asker } from '../exchange.ts';
import { ProblemError } from '../problem.ts';
import { createTokenBuckets, type Rate, type Taken, type TokenBuckets } from './token-buckets.ts';

/** The limits by what they count; absent: none. */
export interface RateLimits {
  /** Requests of one key. */
  key: Rate;
  /** Requests of one address with a publishable key or with none that is good. */
  ip: Rate;
  /** Decisions for one user. */
  user: Rate;
}

/** Generous: an arena's worth of players may share one address. */
export const defaultRateLimits: RateLimits = {
  key: { perS: 2_000, burst: 4_000 },
  ip: { perS: 100, burst: 500 },
  user: { perS: 2, burst: 60 },
};

/** Refuses floods with 429; every answer says how much is left of the tightest limit. */
export interface RateLimiter {
  /** A request whose key is good. */
  onKey(principal: KeyPrincipal, asker: Asker, answer: AnswerHeaders): void;
  /** A request whose key is not good. */
  onStranger(asker: Asker, answer: AnswerHeaders): void;
  /** A decision for a user. */
  onUser(principal: Principal, userRef: string, answer: AnswerHeaders): void;
}

/** What each limit counts by. */
export type LimitBuckets = Record<keyof RateLimits, TokenBuckets>;

export const createLimitBuckets = (limits: RateLimits, nowMs: () => number): LimitBuckets => ({
  key: createTokenBuckets(limits.key, nowMs),
  ip: createTokenBuckets(limits.ip, nowMs),
  user: createTokenBuckets(limits.user, nowMs),
});

/** Without buckets nothing is refused. */
export function createRateLimiter(buckets: LimitBuckets | undefined): RateLimiter {
  if (!buckets) {
    const nothing = () => undefined;
    return { onKey: nothing, onStranger: nothing, onUser: nothing };
  }
  const take = (answer: AnswerHeaders, bucket: TokenBuckets, name: string, what: string): void => {
    const taken = bucket.take(name);
    tell(answer, taken);
    if (taken.allowed) return;
    throw new ProblemError('rate_limited', `Too many requests ${what}.`, {
      retryAfterS: Math.max(1, taken.resetS),
    });
  };
  return {
    onKey(principal, asker, answer) {
      take(answer, buckets.key, principal.keyId, 'with this key');
      if (principal.kind === 'pk') take(answer, buckets.ip, asker.ip, 'from this address');
    },
    onStranger: (asker, answer) => take(answer, buckets.ip, asker.ip, 'from this address'),
    onUser({ accountId, environment }, userRef, answer) {
      take(answer, buckets.user, `${accountId} ${environment} ${userRef}`, 'for this user');
    },
  };
}

function tell(answer: AnswerHeaders, { limit, remaining, resetS }: Taken): void {
  const told = answer.getHeader('ratelimit-remaining');
  if (typeof told === 'number' && told <= remaining) return;
  answer.header('ratelimit-limit', limit);
  answer.header('ratelimit-remaining', remaining);
  answer.header('ratelimit-reset', resetS);
}
