import type { Environment } from '../../key/key-text.ts';
import type { KeyPrincipal, Principal } from '../../key/principal.ts';
import { addressGroup } from '../client-address.ts';
import type { AnswerHeaders, Asker } from '../exchange.ts';
import { ProblemError } from '../problem.ts';
import { createConcurrentWaits, type WaitLimits } from './concurrent-waits.ts';
import { createTokenBuckets, type Rate, type Taken, type TokenBuckets } from './token-buckets.ts';

/** The limits by what they count. */
export interface RateLimits {
  /** Requests of one key that has no limit of its own. */
  key: Record<Environment, Rate>;
  /** The most that the limit of a key may be set to. */
  keyCeiling: Rate;
  /** Requests of one address with a publishable key, or with none that is good. */
  address: Rate;
  /** Decisions for one user. */
  user: Record<Environment, Rate>;
  waits: WaitLimits;
}

/** Refuses floods with 429; every answer says how much is left of the tightest limit. */
export interface RateLimiter {
  /** A request whose key is good. */
  onKey(principal: KeyPrincipal, asker: Asker, answer: AnswerHeaders): void;
  /** A request whose key is not good. */
  onStranger(asker: Asker, answer: AnswerHeaders): void;
  /** A decision for a user. */
  onUser(principal: Principal, userRef: string, answer: AnswerHeaders): void;
  /** A request that waits for a reward, until the returned function is called. */
  onWait(principal: Principal, asker: Pick<Asker, 'ip'>, decisionId: string): () => void;
}

/** What each limit counts by. */
export type LimitBuckets = Record<'key' | 'address' | 'user', TokenBuckets>;

export const createLimitBuckets = (limits: RateLimits, nowMs: () => number): LimitBuckets => ({
  key: createTokenBuckets(limits.key.live, nowMs),
  address: createTokenBuckets(limits.address, nowMs),
  user: createTokenBuckets(limits.user.live, nowMs),
});

/** The limit of a key: its own, as far as the service allows it, or that of its environment. */
export function rateOfKey(
  { key, keyCeiling }: RateLimits,
  { environment, rateLimit }: Pick<KeyPrincipal, 'environment' | 'rateLimit'>,
): Rate {
  if (!rateLimit) return key[environment];
  return {
    perS: Math.min(rateLimit.perS, keyCeiling.perS),
    burst: Math.min(rateLimit.burst, keyCeiling.burst),
  };
}

/** Without limits nothing is refused, except waiting requests: a process bounds them in any case. */
export function createRateLimiter(
  limits: RateLimits | undefined,
  buckets: LimitBuckets | undefined,
): RateLimiter {
  const waits = createConcurrentWaits(limits?.waits);
  const onWait: RateLimiter['onWait'] = (principal, asker, decisionId) =>
    waits.enter({
      decisionId,
      keyId: principal.kind === 'session' ? principal.userId : principal.keyId,
      address: principal.kind === 'pk' ? addressGroup(asker.ip) : undefined,
    });
  if (!limits || !buckets) {
    const nothing = () => undefined;
    return { onKey: nothing, onStranger: nothing, onUser: nothing, onWait };
  }
  const take = (
    answer: AnswerHeaders,
    what: string,
    bucket: TokenBuckets,
    name: string,
    rate?: Rate,
  ): void => {
    const taken = bucket.take(name, rate);
    tell(answer, taken);
    if (taken.allowed) return;
    throw new ProblemError('rate_limited', `Too many requests ${what}.`, {
      retryAfterS: Math.max(1, taken.resetS),
    });
  };
  const onStranger: RateLimiter['onStranger'] = ({ ip }, answer) =>
    take(answer, 'from this address', buckets.address, addressGroup(ip));
  return {
    onKey(principal, asker, answer) {
      const rate = rateOfKey(limits, principal);
      take(answer, 'with this key', buckets.key, principal.keyId, rate);
      if (principal.kind === 'pk') onStranger(asker, answer);
    },
    onStranger,
    onUser({ accountId, environment }, userRef, answer) {
      const name = `${accountId} ${environment} ${userRef}`;
      take(answer, 'for this user', buckets.user, name, limits.user[environment]);
    },
    onWait,
  };
}

function tell(answer: AnswerHeaders, { limit, remaining, resetS }: Taken): void {
  const told = answer.getHeader('ratelimit-remaining');
  if (typeof told === 'number' && told <= remaining) return;
  answer.header('ratelimit-limit', limit);
  answer.header('ratelimit-remaining', remaining);
  answer.header('ratelimit-reset', resetS);
}
