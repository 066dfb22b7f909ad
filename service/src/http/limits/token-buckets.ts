import { BoundedMap } from '../../platform/bounded-map.ts';
/** A rate limit: `perS` requests per second on average, with bursts of up to `burst` requests. */
export interface Rate {
  perS: number;
  burst: number;
}

/** The result of taking a token. */
export interface TakeResult {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the bucket is full again or, if the request was rejected, until the next request is allowed. */
  resetS: number;
}

/** Token buckets by name. */
export interface TokenBuckets {
  /** Takes a token. `rate` overrides the default rate for this name. */
  take(name: string, rate?: Rate): TakeResult;
  /** Sets the number of processes that share each bucket. The default is 1. */
  share(processes: number): void;
  /**
   * Returns the request count of each bucket whose usage since the last call exceeded this process's local share of the
   * limit.
   */
  readUses(): [string, number][];
  /** Takes tokens for requests that another process allowed, up to the capacity of one bucket. */
  charge(name: string, uses: number): void;
  /** Returns a token, for a request that turned out not to count. */
  giveBack(name: string): void;
}

interface Bucket {
  rate: Rate;
  tokens: number;
  /** Number of further requests that this process may allow before it has to report them to the other processes. */
  unshared: number;
  refilledAtMs: number;
  /** Requests allowed in `round`. */
  uses: number;
  round: number;
}

/** Maximum number of buckets. If there are more, the least recently used bucket is evicted. */
const maxBuckets = 100_000;
/**
 * The fraction of a limit that the processes may collectively use before they report their usage to each other. Actual
 * usage can exceed a limit by up to this fraction.
 */
const unsharedFraction = 0.5;

export function createTokenBuckets(defaultRate: Rate, nowMs: () => number): TokenBuckets {
  const buckets = new BoundedMap<string, Bucket>(maxBuckets);
  const namesToReport = new Set<string>();
  let processes = 1;
  let round = 0;

  const refill = (name: string, newRate?: Rate): Bucket => {
    const now = nowMs();
    const existingBucket = buckets.get(name);
    const rate = newRate ?? existingBucket?.rate ?? defaultRate;
    const { perS, burst } = rate;
    const share = unsharedFraction / processes;
    const capacity = Math.max(1, burst * share);
    const bucket = existingBucket ?? {
      rate,
      tokens: burst,
      unshared: capacity,
      refilledAtMs: now,
      uses: 0,
      round,
    };
    bucket.rate = rate;
    const elapsedS = Math.max(0, now - bucket.refilledAtMs) / 1_000;
    bucket.tokens = Math.min(burst, bucket.tokens + elapsedS * perS);
    bucket.unshared = Math.min(capacity, bucket.unshared + elapsedS * perS * share);
    bucket.refilledAtMs = now;
    if (bucket.round !== round) Object.assign(bucket, { uses: 0, round });
    buckets.set(name, bucket);
    return bucket;
  };

  return {
    take(name, rate) {
      const bucket = refill(name, rate);
      const { perS, burst } = bucket.rate;
      const allowed = bucket.tokens >= 1;
      if (allowed) {
        bucket.tokens -= 1;
        bucket.uses += 1;
        bucket.unshared -= 1;
        if (bucket.unshared < 0 && processes > 1) namesToReport.add(name);
        bucket.unshared = Math.max(0, bucket.unshared);
      }
      const missingTokens = allowed ? burst - bucket.tokens : 1 - bucket.tokens;
      return {
        allowed,
        limit: burst,
        remaining: Math.max(0, Math.floor(bucket.tokens)),
        resetS: Math.ceil(missingTokens / perS),
      };
    },
    share: (count) => void (processes = count),
    readUses() {
      const uses = [...namesToReport].map((name): [string, number] => [
        name,
        buckets.get(name)?.uses ?? 0,
      ]);
      namesToReport.clear();
      round += 1;
      return uses;
    },
    charge(name, uses) {
      const bucket = refill(name);
      bucket.tokens -= Math.min(uses, bucket.rate.burst);
    },
    giveBack(name) {
      const bucket = refill(name);
      bucket.tokens = Math.min(bucket.rate.burst, bucket.tokens + 1);
      bucket.uses = Math.max(0, bucket.uses - 1);
    },
  };
}
