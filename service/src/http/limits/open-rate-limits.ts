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
  /** What no other process calls itself; absent where this is the only one. */
  processId: string | undefined;
}

const everyMs = 1_000;

/**
 * Makes the limits, and each second exchanges with the other processes what was used of them.
 *
 * @param limits absent: nothing is limited
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

/** Hands back what ends it. */
function startExchange(store: UseStore, exchange: UseExchange, log: Logger): () => Promise<void> {
  let failing = false;
  /** Never rejects: without the others, this process limits by what it sees itself. */
  const round = async (): Promise<void> => {
    try {
      await store.write(exchange.tell());
      const { processes, uses } = await store.read(exchange.names());
      exchange.hear(processes, uses);
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'rate limits are not shared with other processes');
      failing = true;
    }
  };
  let running = round();
  let stopped = false;
  let timer = setTimeout(function again() {
    running = round().then(() => {
      if (!stopped) timer = setTimeout(again, everyMs).unref();
    });
  }, everyMs).unref();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
    // Otherwise the others would share with it for five seconds more.
    await store.remove().catch(() => undefined);
  };
}
