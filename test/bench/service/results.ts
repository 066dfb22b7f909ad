import { cpus, loadavg, totalmem } from 'node:os';
import { mean, median } from '../outbox/statistics.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Cost } from './meter.ts';
import type { Side } from './side.ts';

/**
 * The units of work that are measured. `decisionAlone` is a decision measured without any other kind of request, at a
 * concurrency of 64. `ad` is a whole ad with its webhook.
 */
export type Unit =
  'decisionAlone' | 'decision' | 'start' | 'quartiles' | 'finish' | 'delivery' | 'ad';

export interface Round {
  echoUs: number;
  sides: Partial<Record<Side['name'], Record<Unit, Cost>>>;
}

/** When and where the measurement ran. */
export interface Origin {
  date: string;
  machine: string;
}

/**
 * The contents of docs/benchmarks/service/costs.json: this build's costs, which the capacity plan is based on.
 */
export interface Costs {
  measured: Origin;
  rounds: number;
  ads: number;
  costs: Record<Unit, Cost>;
  echoUs: number;
  /** The costs with the embedded database, which runs in one of the service's threads. */
  embedded: Record<Unit, Cost>;
  groupCommit: Record<'postgresql' | 'embedded', GroupCommit>;
}

/** A requirement and the measured value. */
export interface Verdict {
  budget: string;
  measured: string;
  held: boolean;
}

/**
 * The contents of docs/benchmarks/service/comparison.json: this build compared with an older one. The builds alternate
 * within one run.
 */
export interface Comparison {
  measured: Origin;
  /** The commit of the older build. */
  older: string;
  rounds: Round[];
  verdicts: Verdict[];
}

/** One build at one rate of whole ads. */
export interface RateRow {
  side: Side['name'];
  /** Number of ads started per second. */
  rate: number;
  /** Number of webhooks that arrived per second. */
  perSecond: number;
  reached: boolean;
  /** CPU time per ad, including the work that the service does while it is idle. */
  serviceUs: number;
  databaseUs: number;
  /** 50th and 99th percentiles of the time from the ad's scheduled start to the response. */
  decisionMs: [number, number];
  /** 50th and 99th percentiles of the time from sending the completion to the webhook's arrival. */
  webhookMs: [number, number];
}

/** The contents of docs/benchmarks/service/rates.json. */
export interface Rates {
  measured: Origin;
  /** The commit of the older build, if any. */
  older?: string;
  rows: RateRow[];
}

/** The result from one part of `npm run bench:scale`. */
export interface PartResult {
  title: string;
  verdicts: Verdict[];
  head: string[];
  rows: (string | number)[][];
  note: string;
  plot?: { axis: string; rows: { label: string; value: number }[] };
}

/** The contents of docs/benchmarks/service/scale.json. */
export type Scale = Record<string, PartResult & { measured: Origin }>;

/** Describes when and where the benchmark runs. Call it before the run, because the benchmark itself adds load. */
export function readOrigin(): Origin {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpu?.model.trim()}, ${memory} GiB, Node ${process.versions.node}, load ${(loadavg()[0] ?? 0).toFixed(1)} before the run`,
  };
}

const medianOrNaN = (values: number[]): number => median(values) ?? NaN;

/**
 * Returns each counter's median over all rounds. For stored bytes, returns the mean instead, because a round that
 * reuses space freed by autovacuum adds fewer bytes.
 */
export function summarize(rounds: readonly Round[], side: Side['name']): Record<Unit, Cost> {
  const sideRounds = rounds.flatMap(({ sides }) => sides[side] ?? []);
  const computeMedianCost = (unit: Unit): Cost => {
    const read = (counter: keyof Cost, average = medianOrNaN): number =>
      Math.round(average(sideRounds.map((costs) => costs[unit][counter])));
    return {
      serviceUs: read('serviceUs'),
      databaseUs: read('databaseUs'),
      storedBytes: read('storedBytes', mean),
      loggedBytes: read('loggedBytes'),
    };
  };
  return {
    decisionAlone: computeMedianCost('decisionAlone'),
    decision: computeMedianCost('decision'),
    start: computeMedianCost('start'),
    quartiles: computeMedianCost('quartiles'),
    finish: computeMedianCost('finish'),
    delivery: computeMedianCost('delivery'),
    ad: computeMedianCost('ad'),
  };
}

/**
 * Returns the new cost divided by the old cost for each round. Within a round, the second build runs directly after the
 * first.
 */
export const ratios = (rounds: readonly Round[], unit: Unit, counter: keyof Cost): number[] =>
  rounds.flatMap(({ sides }) => {
    const [current, previous] = [
      sides['this build']?.[unit][counter],
      sides['older build']?.[unit][counter],
    ];
    return current === undefined || !previous ? [] : [current / previous];
  });

const ratioOfMeans = (rounds: readonly Round[], unit: Unit): number =>
  summarize(rounds, 'this build')[unit].storedBytes /
  summarize(rounds, 'older build')[unit].storedBytes;

/** What a new release may cost, relative to the older build. */
const maxRatio = 1.05;
const budgets: readonly [string, Unit, keyof Cost][] = [
  ['a whole ad with its webhook, service CPU', 'ad', 'serviceUs'],
  ['a whole ad with its webhook, PostgreSQL CPU', 'ad', 'databaseUs'],
  ['one webhook delivery, service CPU', 'delivery', 'serviceUs'],
  ['one webhook delivery, PostgreSQL CPU', 'delivery', 'databaseUs'],
  ['a decision, service CPU', 'decisionAlone', 'serviceUs'],
  ['bytes stored per ad', 'ad', 'storedBytes'],
];

/** Compares this build with the older one, and returns whether it meets each requirement. */
export const judge = (rounds: readonly Round[]): Verdict[] =>
  budgets.map(([label, unit, counter]) => {
    const roundRatios = ratios(rounds, unit, counter);
    const ratio = counter === 'storedBytes' ? ratioOfMeans(rounds, unit) : medianOrNaN(roundRatios);
    const range = `${Math.min(...roundRatios).toFixed(2)}–${Math.max(...roundRatios).toFixed(2)}`;
    return {
      budget: `${label}: at most ${maxRatio} × the older build`,
      measured: `${ratio.toFixed(2)} × (${range})`,
      held: ratio <= maxRatio,
    };
  });
