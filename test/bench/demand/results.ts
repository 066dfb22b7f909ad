import { median } from '../outbox/statistics.ts';
import type { Origin, Verdict } from '../service/results.ts';

/** 50th and 99th percentile, in milliseconds. */
export type Percentiles = [number, number];

/** Decisions on one placement, a few at a time. */
export interface LatencyRow {
  placement: string;
  count: number;
  decisionMs: Percentiles;
  /**
   * The time that the slowest source of each decision measured from the end of the request to the end of its response.
   */
  sourceMs?: Percentiles;
  /** The difference between the two for each decision. */
  addedMs?: Percentiles;
}

/** All sources of the placement hang until the budget of the decision is spent. */
export interface Hanging {
  budgetMs: number;
  count: number;
  decisionMs: Percentiles;
  /** Decisions on the same placement after the circuits have opened. */
  openMs: Percentiles;
}

/** CPU of the service in each window, in microseconds per decision. */
export interface CostRow {
  placement: string;
  serviceUs: number[];
}

/** A placement with house ads only, while the sources of other placements are active and while they are paused. */
export interface HouseOnly {
  /** Of each round: active ÷ paused. */
  cpuRatios: number[];
  latencyRatios: number[];
}

/** The longest turn of the event loop while a document is read. */
export interface Stall {
  kind: 'VAST' | 'OpenRTB';
  /** The elements that fill the document. */
  content: string;
  bytes: number;
  ms: number;
  verdict: string;
}

export interface Memory {
  /** Resident megabytes of the service: after warm-up, and at the end of the run. */
  startMb: number;
  endMb: number;
  decisions: number;
  /** The number of decisions that wait for three sources at the same time, and the memory that each adds. */
  waiting: number;
  kbPerWaiting: number;
}

/** docs/benchmarks/demand/demand.json */
export interface Demand {
  measured: Origin;
  latencies: LatencyRow[];
  hanging: Hanging;
  costs: CostRow[];
  houseOnly: HouseOnly;
  stalls: Stall[];
  memory: Memory;
  verdicts: Verdict[];
}

/** The requirements, and whether they are met. */
export function judge(results: Omit<Demand, 'measured' | 'verdicts'>): Verdict[] {
  const { latencies, hanging, costs, houseOnly, stalls } = results;
  const added = latencies.flatMap(({ placement, addedMs }) =>
    addedMs ? [{ placement, addedMs }] : [],
  );
  const worst = (index: 0 | 1) =>
    added.toSorted((a, b) => b.addedMs[index] - a.addedMs[index])[0] ?? {
      placement: '',
      addedMs: [NaN, NaN],
    };
  const limit = (budget: string, value: number, most: number, measured: string): Verdict => ({
    budget,
    measured,
    held: value <= most,
  });
  const [p50, p99] = [worst(0), worst(1)];
  const overBudget = hanging.decisionMs[1] - hanging.budgetMs;
  const slowest = stalls.toSorted((a, b) => b.ms - a.ms)[0];
  const judgeRatio = (name: string, ratios: readonly number[]): Verdict => {
    const ratio = median([...ratios]) ?? NaN;
    const range = `${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)}`;
    return {
      budget: `a placement with house ads only, ${name}: active sources on other placements change it by at most 2 %`,
      measured: `${ratio.toFixed(3)} × (${range})`,
      held: Math.abs(ratio - 1) <= 0.02,
    };
  };
  return [
    limit(
      'added to the slowest source, 50th percentile: at most 3 ms',
      p50.addedMs[0] ?? NaN,
      3,
      `${p50.addedMs[0]?.toFixed(1)} ms (${p50.placement})`,
    ),
    limit(
      'added to the slowest source, 99th percentile: at most 15 ms',
      p99.addedMs[1] ?? NaN,
      15,
      `${p99.addedMs[1]?.toFixed(1)} ms (${p99.placement})`,
    ),
    limit(
      'all sources hang, 99th percentile: the house ad at most 20 ms after the budget',
      overBudget,
      20,
      `${overBudget.toFixed(1)} ms`,
    ),
    ...costs
      .filter(({ placement }) => placement !== 'house ads only')
      .map(({ placement, serviceUs }) => {
        const us = median(serviceUs) ?? NaN;
        return limit(
          `CPU of a decision, ${placement}: at most 1 ms`,
          us,
          1_000,
          `${(us / 1_000).toFixed(2)} ms`,
        );
      }),
    judgeRatio('CPU', houseOnly.cpuRatios),
    judgeRatio('median latency', houseOnly.latencyRatios),
    limit(
      'longest turn of the event loop, any document of up to 256 kB: at most 10 ms',
      slowest?.ms ?? NaN,
      10,
      `${slowest?.ms.toFixed(1)} ms (${slowest?.kind}, ${slowest?.content})`,
    ),
  ];
}
