import type { Logger } from 'pino';
import { type SecretBox, createMac, readServiceSecret } from '../../access/secret-box.ts';
import type { Clock } from '../../platform/time.ts';
import type { Queries } from '../../store/database.ts';
import {
  createLimitBuckets,
  createRateLimiter,
  type RateLimiter,
  type RateLimits,
} from './rate-limits.ts';
import type { TokenBuckets } from './token-buckets.ts';

interface Deps {
  database: Queries;
  box: SecretBox;
  clock: Clock;
  log: Logger;
  /** The unique id of this process; undefined if it is the only process. */
  processId: string | undefined;
}

const intervalMs = 1_000;

/**
 * Creates the rate limiter. Shares its usage with other processes every second.
 *
 * @param limits the rate limits; if undefined, requests are not limited
 */
export async function openRateLimits(
  limits: RateLimits | undefined,
  { database, box, clock, log, processId }: Deps,
): Promise<{ limiter: RateLimiter; stop(): Promise<void> }> {
  const buckets = limits && createLimitBuckets(limits, clock.monotonicMs);
  const limiter = createRateLimiter(limits, buckets);
  if (!buckets || processId === undefined) return { limiter, stop: () => Promise.resolve() };
  const key = await readServiceSecret(database, box, clock, 'limit_names');
  const store = createUsageStore(database, processId, clock);
  return { limiter, stop: startExchange(store, createUsageExchange({ ...buckets }, key), log) };
}

/** Starts sharing usage every second. Returns a function that stops it. */
function startExchange(
  store: UsageStore,
  exchange: UsageExchange,
  log: Logger,
): () => Promise<void> {
  let isFailing = false;
  /** Never rejects. If sharing fails, this process applies the limits to its own usage only. */
  const runRound = async (): Promise<void> => {
    try {
      await store.write(exchange.collect());
      const { processes, uses } = await store.read(exchange.names());
      exchange.apply(processes, uses);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'could not share rate limits with other processes');
      isFailing = true;
    }
  };
  let running = runRound();
  let stopped = false;
  let timer = setTimeout(function repeat() {
    running = runRound().then(() => {
      if (!stopped) timer = setTimeout(repeat, intervalMs).unref();
    });
  }, intervalMs).unref();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
    // Remove this process. Otherwise, the other processes would keep reserving its share of each limit for five more
    // seconds.
    await store.remove().catch(() => undefined);
  };
}

/** The number of requests that a process has allowed for a name since it started. The name is hashed. */
export interface UsageTotal {
  name: string;
  uses: number;
}

/** Shares the rate-limit usage of this process with other processes, and applies their usage. */
interface UsageExchange {
  /** Returns the usage that this process reports. */
  collect(): UsageTotal[];
  /** Applies the usage that other processes reported for the names that this process tracks. */
  apply(processes: number, uses: readonly (UsageTotal & { processId: string })[]): void;
  /** Returns the names for which this process needs the other processes' usage. */
  names(): string[];
}

/** Number of rounds in which each total is reported, in case a round fails. */
const reportRounds = 3;
/** Number of rounds without a request after which a name is evicted. */
const retainRounds = 120;

interface NameUsage {
  kind: string;
  name: string;
  uses: number;
  /** The latest totals from the other processes, by process id. */
  seenTotals: Map<string, number>;
  round: number;
}

/**
 * Reports only buckets whose usage exceeds this process's local share of the limit. The names are hashed, because they
 * contain IPs and users. Reports totals instead of differences, so that no usage is lost when a round fails.
 */
export function createUsageExchange(
  buckets: Readonly<Record<string, TokenBuckets>>,
  key: string,
): UsageExchange {
  const mac = createMac(key);
  const usage = new Map<string, NameUsage>();
  let round = 0;

  const addUses = (kind: string, name: string, uses: number): void => {
    const hashedName = mac(`${kind}\n${name}`).slice(0, 22);
    const previous = usage.get(hashedName);
    usage.set(hashedName, {
      kind,
      name,
      uses: (previous?.uses ?? 0) + uses,
      seenTotals: previous?.seenTotals ?? new Map<string, number>(),
      round,
    });
  };
  /** Returns how much a total has increased. When a process restarts, its total resets to zero. */
  const computeIncrease = (previous: number | undefined, uses: number): number =>
    previous === undefined || uses < previous ? uses : uses - previous;

  return {
    collect() {
      round += 1;
      for (const [kind, kindBuckets] of Object.entries(buckets))
        for (const [name, uses] of kindBuckets.readUses()) addUses(kind, name, uses);
      for (const [key, { round: last }] of usage)
        if (round - last > retainRounds) usage.delete(key);
      return [...usage]
        .filter(([, nameUsage]) => round - nameUsage.round < reportRounds)
        .map(([name, { uses }]) => ({ name, uses }));
    },
    names: () => [...usage.keys()],
    apply(processes, reported) {
      for (const kindBuckets of Object.values(buckets)) kindBuckets.share(processes);
      for (const { processId, name, uses } of reported) {
        const ownUsage = usage.get(name);
        if (!ownUsage) continue;
        buckets[ownUsage.kind]?.charge(
          ownUsage.name,
          computeIncrease(ownUsage.seenTotals.get(processId), uses),
        );
        ownUsage.seenTotals.set(processId, uses);
      }
    },
  };
}

/** Stores usage in the database table that all processes share. */
interface UsageStore {
  /** Writes this process's usage, and a heartbeat. */
  write(uses: readonly UsageTotal[]): Promise<void>;
  /**
   * Reads the number of live processes, including this process, and the other processes' recent usage for these names.
   */
  read(names: readonly string[]): Promise<{
    processes: number;
    uses: (UsageTotal & { processId: string })[];
  }>;
  /** Removes this process. */
  remove(): Promise<void>;
}

/** How long after its last heartbeat a process is considered dead. */
const staleAfterMs = 5_000;
/** Heartbeat rows have this name. */
const heartbeat = '';

/** Number of writes after which stale rows are deleted. */
const writesPerCleanup = 60;

export function createUsageStore(
  queries: Queries,
  processId: string,
  clock: Pick<Clock, 'nowMs'>,
): UsageStore {
  const staleAt = () => new Date(clock.nowMs() - staleAfterMs);
  let writes = 0;
  return {
    async write(uses) {
      writes += 1;
      if (writes % writesPerCleanup === 0) {
        await queries.query(
          `DELETE FROM limit_uses WHERE account_id = 'service' AND process_id = $1 AND seen_at < $2`,
          [processId, staleAt()],
        );
      }
      await queries.query(
        `INSERT INTO limit_uses (account_id, process_id, name, uses, seen_at)
          SELECT 'service', $1, name, uses, $3::timestamptz FROM jsonb_to_recordset($2::text::jsonb) AS row(name text, uses bigint)
          ON CONFLICT (account_id, process_id, name) DO UPDATE SET uses = excluded.uses, seen_at = excluded.seen_at`,
        [
          processId,
          JSON.stringify([...uses, { name: heartbeat, uses: 0 }]),
          new Date(clock.nowMs()),
        ],
      );
    },
    async read(names) {
      const rows = await queries.query<UsageTotal & { processId: string }>(
        `SELECT process_id AS "processId", name, uses FROM limit_uses
          WHERE account_id = 'service' AND process_id <> $1 AND seen_at > $3
            AND name IN (SELECT jsonb_array_elements_text($2::text::jsonb))`,
        [processId, JSON.stringify([...names, heartbeat]), staleAt()],
      );
      return {
        processes: 1 + rows.filter(({ name }) => name === heartbeat).length,
        uses: rows.filter(({ name }) => name !== heartbeat),
      };
    },
    async remove() {
      await queries.query(
        `DELETE FROM limit_uses WHERE account_id = 'service' AND process_id = $1`,
        [processId],
      );
    },
  };
}
