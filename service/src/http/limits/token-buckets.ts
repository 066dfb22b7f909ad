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
  /** `rate` is that of this name, where it has one of its own. */
  take(name: string, rate?: Rate): Taken;
  /** So many processes share each bucket by what they tell each other; one until this is called. */
  share(processes: number): void;
  /** The names of which this process let through more than its share since the last call, and how many. */
  readUses(): [string, number][];
  /** Another process let so many through; a whole bucket at most, of which it may have told before. */
  charge(name: string, uses: number): void;
}

interface Bucket {
  rate: Rate;
  tokens: number;
  /** What is left of the part of the limit that this process need not tell of. */
  quiet: number;
  atMs: number;
  /** Requests let through in `round`. */
  uses: number;
  round: number;
}

/** Buckets are forgotten when so many are kept; the one that was used longest ago first. */
const maxBuckets = 100_000;
/** All processes together may let through so much of a limit and tell nobody; it is what the limit may err by. */
const quietPart = 0.5;

export function createTokenBuckets(usual: Rate, nowMs: () => number): TokenBuckets {
  const buckets = new Map<string, Bucket>();
  const told = new Set<string>();
  let processes = 1;
  let round = 0;

  const refill = (name: string, given?: Rate): Bucket => {
    const now = nowMs();
    const known = buckets.get(name);
    const rate = given ?? known?.rate ?? usual;
    const { perS, burst } = rate;
    const part = quietPart / processes;
    const full = Math.max(1, burst * part);
    const bucket = known ?? { rate, tokens: burst, quiet: full, atMs: now, uses: 0, round };
    bucket.rate = rate;
    const passedS = Math.max(0, now - bucket.atMs) / 1_000;
    bucket.tokens = Math.min(burst, bucket.tokens + passedS * perS);
    bucket.quiet = Math.min(full, bucket.quiet + passedS * perS * part);
    bucket.atMs = now;
    if (bucket.round !== round) Object.assign(bucket, { uses: 0, round });
    buckets.delete(name);
    buckets.set(name, bucket);
    const [oldest] = buckets.keys();
    if (buckets.size > maxBuckets && oldest !== undefined) buckets.delete(oldest);
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
        bucket.quiet -= 1;
        if (bucket.quiet < 0 && processes > 1) told.add(name);
        bucket.quiet = Math.max(0, bucket.quiet);
      }
      const missing = allowed ? burst - bucket.tokens : 1 - bucket.tokens;
      return {
        allowed,
        limit: burst,
        remaining: Math.max(0, Math.floor(bucket.tokens)),
        resetS: Math.ceil(missing / perS),
      };
    },
    share: (count) => void (processes = count),
    readUses() {
      const uses = [...told].map((name): [string, number] => [name, buckets.get(name)?.uses ?? 0]);
      told.clear();
      round += 1;
      return uses;
    },
    charge(name, uses) {
      const bucket = refill(name);
      bucket.tokens -= Math.min(uses, bucket.rate.burst);
    },
  };
}
