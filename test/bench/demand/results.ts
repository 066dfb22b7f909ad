import { median } from '../outbox/statistics.ts';
import type { Origin, Verdict } from '../service/results.ts';

/** 50th and 99th percentile, in milliseconds. */
export type Percentiles = [number, number];

/**
 * Decisions per second while latencies are measured. At the first rate, which the requirements refer to, the machine is
 * about one-third busy. At the second rate, it is mostly idle.
 */
export const latencyRates = [300, 100] as const;

/** Results of one placement at one rate. */
export interface LatencyRow {
  placement: string;
  /** Decisions per second. */
  rate: number;
  count: number;
  decisionMs: Percentiles;
  /**
   * How long each decision's slowest source took, as measured by the source from the end of the request to the end of
   * the response.
   */
  sourceMs?: Percentiles;
  /** For each decision, `decisionMs` minus `sourceMs`. */
  addedMs?: Percentiles;
}

/**
 * Requests that the players send directly to a source, bypassing the service. `addedMs` is the overhead of the network
 * and the machine on top of the time that the source measures. It is the lower bound for any service.
 */
export interface DirectRow {
  delayMs: number;
  /** Requests per second. */
  rate: number;
  count: number;
  addedMs: Percentiles;
}

/** Results of a placement whose sources all hang until the decision's time budget is spent. */
export interface HangingResults {
  budgetMs: number;
  count: number;
  decisionMs: Percentiles;
  /** Decisions for the same placement after the circuit breakers have opened. */
  openMs: Percentiles;
}

/** The service's CPU time per decision in each window, in microseconds. */
export interface CostRow {
  placement: string;
  serviceUs: number[];
}

/** Results of a placement that has only house ads. The sources of other placements are either active or paused. */
export interface HouseOnlyResults {
  /** For each round, the CPU time with active sources divided by the CPU time with paused sources. */
  cpuRatios: number[];
  latencyRatios: number[];
}

/** The longest event-loop stall while the service reads one document. */
export interface Stall {
  kind: 'VAST' | 'OpenRTB';
  /** Describes the elements that fill the document. */
  content: string;
  bytes: number;
  ms: number;
  verdict: string;
}

export interface Memory {
  /** The service's resident memory in megabytes, after the warm-up and at the end of the run. */
  startMb: number;
  endMb: number;
  decisions: number;
  /**
   * Number of decisions that wait for three sources at the same time, and how much memory each of these decisions adds.
   */
  waiting: number;
  kbPerWaiting: number;
}

/** The content of docs/benchmarks/demand/demand.json. */
export interface DemandResults {
  measured: Origin;
  latencies: LatencyRow[];
  direct: DirectRow[];
  hanging: HangingResults;
  costs: CostRow[];
  houseOnly: HouseOnlyResults;
  stalls: Stall[];
  memory: Memory;
  verdicts: Verdict[];
}

/** Returns the requirements and whether these results meet them. */
export function judge(results: Omit<DemandResults, 'measured' | 'verdicts'>): Verdict[] {
  const { latencies, hanging, costs, houseOnly, stalls } = results;
  const [judgedRate] = latencyRates;
  const added = latencies.flatMap(({ placement, rate, addedMs }) =>
    addedMs && rate === judgedRate ? [{ placement, addedMs }] : [],
  );
  const worst = (index: 0 | 1) =>
    added.toSorted((a, b) => b.addedMs[index] - a.addedMs[index])[0] ?? {
      placement: '',
      addedMs: [NaN, NaN],
    };
  const limit = (budget: string, value: number, maximum: number, measured: string): Verdict => ({
    budget,
    measured,
    held: value <= maximum,
  });
  const [p50, p99] = [worst(0), worst(1)];
  const overBudget = hanging.decisionMs[1] - hanging.budgetMs;
  const slowest = stalls.toSorted((a, b) => b.ms - a.ms)[0];
  const judgeRatio = (name: string, ratios: readonly number[]): Verdict => {
    const ratio = median([...ratios]) ?? NaN;
    const range = `${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)}`;
    return {
      budget: `a placement with house ads only, ${name}: active sources on other placements change it by at most 2%`,
      measured: `${ratio.toFixed(3)} × (${range})`,
      held: Math.abs(ratio - 1) <= 0.02,
    };
  };
  return [
    limit(
      `added to the slowest source at ${judgedRate} decisions per second, 50th percentile: at most 3 ms`,
      p50.addedMs[0] ?? NaN,
      3,
      `${p50.addedMs[0]?.toFixed(1)} ms (${p50.placement})`,
    ),
    limit(
      `added to the slowest source at ${judgedRate} decisions per second, 99th percentile: at most 15 ms`,
      p99.addedMs[1] ?? NaN,
      15,
      `${p99.addedMs[1]?.toFixed(1)} ms (${p99.placement})`,
    ),
    limit(
      'when all sources hang, the house ad is served at most 20 ms after the budget expires (99th percentile)',
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
