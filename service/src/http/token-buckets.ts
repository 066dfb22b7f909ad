/** How fast requests of one kind may come: `perS` on average, `burst` at once. */
export interface Rate {
  perS: number;
  burst: number;
}

/** What became of one request. */
export interface Taken {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the bucket is full again; for a refusal, until the next request is allowed. */
  resetS: number;
}

/** Token buckets by name. */
export interface TokenBuckets {
  take(name: string): Taken;
}

/** Buckets are forgotten when so many are kept; the one that was used longest ago first. */
const maxBuckets = 100_000;

export function createTokenBuckets({ perS, burst }: Rate, nowMs: () => number): TokenBuckets {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return {
    take(name) {
      const now = nowMs();
      const bucket = buckets.get(name) ?? { tokens: burst, atMs: now };
      const passedMs = Math.max(0, now - bucket.atMs);
      const tokens = Math.min(burst, bucket.tokens + (passedMs / 1_000) * perS);
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.delete(name);
      buckets.set(name, { tokens: left, atMs: now });
      const [oldest] = buckets.keys();
      if (buckets.size > maxBuckets && oldest !== undefined) buckets.delete(oldest);
      const missing = allowed ? burst - left : 1 - left;
      return {
        allowed,
        limit: burst,
        remaining: Math.floor(left),
        resetS: Math.ceil(missing / perS),
      };
    },
  };
}
