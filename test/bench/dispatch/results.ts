import type { Contender } from './contenders.ts';
import type { CrashRun, DeliveryRun } from './measure.ts';

/** One contender's measurements. */
export interface Measurements {
  contender: Contender;
  /** Deliveries per second with each setting, in the order of `contender.settings`. Empty if there is only one. */
  tuning: { label: string; perSecond: number }[];
  /** The fastest setting, used for all other measurements. */
  setting: string;
  rounds: DeliveryRun[];
  crashes: CrashRun[];
  /** Why the contender was skipped. */
  gap?: string;
}

/**
 * One contender's results. Figures are medians over the rounds. CPU times are in microseconds per delivery.
 */
export interface Summary {
  name: string;
  setting: string;
  tuning: Measurements['tuning'];
  gap?: string;
  perSecond?: number;
  slowest?: number;
  fastest?: number;
  workerUs?: number;
  postgresUs?: number;
  postgresBackgroundUs?: number;
  redisUs?: number;
  /** Worker, PostgreSQL and Redis together. */
  totalUs?: number;
  /** The receiver's CPU time. The receiver is the same program for every contender. */
  receiverUs?: number;
  /** The cost of writing a cause with its delivery: wall time, and the CPU time of all processes. */
  enqueueUs?: number;
  enqueueCpuUs?: number;
  /** Totals over all rounds without fault injection. */
  lost: number;
  duplicated: number;
  crashes: CrashRun[];
}

export const perSecond = ({ count, ms }: Pick<DeliveryRun, 'count' | 'ms'>): number =>
  (1_000 * count) / ms;

/** Summarizes a contender's rounds. */
export function summarize(measurements: Measurements): Summary {
  const { contender, crashes, gap, rounds, setting, tuning } = measurements;
  const common = {
    name: contender.name,
    setting,
    tuning,
    lost: sum(rounds.map(({ failed, tally }) => tally.lost + failed)),
    duplicated: sum(rounds.map(({ tally }) => tally.duplicated)),
    crashes,
    ...(gap === undefined ? {} : { gap }),
  };
  if (rounds.length === 0) return common;
  const computeMedian = (read: (round: DeliveryRun) => number): number =>
    median(rounds.map((round) => read(round)));
  const rates = rounds.map(perSecond);
  return {
    ...common,
    perSecond: median(rates),
    slowest: Math.min(...rates),
    fastest: Math.max(...rates),
    workerUs: computeMedian(({ count, usage }) => usage.worker / count),
    postgresUs: computeMedian(({ count, usage }) => usage.postgres / count),
    postgresBackgroundUs: computeMedian(({ count, usage }) => usage.postgresBackground / count),
    redisUs: computeMedian(({ count, usage }) => usage.redis / count),
    totalUs: computeMedian(
      ({ count, usage }) => (usage.worker + usage.postgres + usage.redis) / count,
    ),
    receiverUs: computeMedian(({ count, usage }) => usage.receiver / count),
    enqueueUs: computeMedian(({ count, enqueue }) => (1_000 * enqueue.ms) / count),
    enqueueCpuUs: computeMedian(
      ({ count, enqueue: { usage } }) => (usage.producer + usage.postgres + usage.redis) / count,
    ),
  };
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Returns the middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}
