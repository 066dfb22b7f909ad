import type { Logger } from 'pino';
import type { SecretBox } from '../../key/secret-box.ts';
import { readServiceSecret } from '../../key/service-secrets.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queries } from '../../store/database.ts';
import {
  createUseExchange,
  type UseExchange,
  createUseStore,
  type UseStore,
} from './exchange-uses.ts';
import {
  createLimitBuckets,
  createRateLimiter,
  type RateLimiter,
  type RateLimits,
} from './rate-limits.ts';

interface Parts {
  database: Queries;
  box: SecretBox;
  clock: Clock;
  log: Logger;
  /** The unique id of this process; absent if it is the only one. */
  processId: string | undefined;
}

const intervalMs = 1_000;

/**
 * Creates the rate limiter, and shares its usage with other processes every second.
 *
 * @param limits absent: requests are not limited
 */
export async function openRateLimits(
  limits: RateLimits | undefined,
  { database, box, clock, log, processId }: Parts,
): Promise<{ limiter: RateLimiter; stop(): Promise<void> }> {
  const buckets = limits && createLimitBuckets(limits, clock.monotonicMs);
  const limiter = createRateLimiter(limits, buckets);
  if (!buckets || processId === undefined) return { limiter, stop: () => Promise.resolve() };
  const key = await readServiceSecret(database, box, clock, 'limit_names');
  const store = createUseStore(database, processId);
  return { limiter, stop: startExchange(store, createUseExchange({ ...buckets }, key), log) };
}

/** Returns a function that stops the exchange. */
function startExchange(store: UseStore, exchange: UseExchange, log: Logger): () => Promise<void> {
  let failing = false;
  /** Never rejects: if sharing fails, this process limits by its own usage. */
  const round = async (): Promise<void> => {
    try {
      await store.write(exchange.collect());
      const { processes, uses } = await store.read(exchange.names());
      exchange.apply(processes, uses);
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'could not share rate limits with other processes');
      failing = true;
    }
  };
  let running = round();
  let stopped = false;
  let timer = setTimeout(function again() {
    running = round().then(() => {
      if (!stopped) timer = setTimeout(again, intervalMs).unref();
    });
  }, intervalMs).unref();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
    // Otherwise the others would reserve a share for it for another five seconds.
    await store.remove().catch(() => undefined);
  };
}
