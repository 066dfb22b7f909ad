import type { RunInfo } from './run-info.ts';
import type { Size } from './bundle.ts';
import type { ContenderInfo } from './contenders.ts';
import type { FaultyDrainResult } from './measure/faulty-drain.ts';
import type { KillResult } from './measure/kill.ts';
import type { DrainResult, LengthResult, PageResult } from './measure/life.ts';
import type { FrameTimes } from './page/frame-meter.ts';
import type { Measurements, Results } from './results.ts';
import { median, percentile, ratio } from './statistics.ts';

/** The cost of an event at one queue length. Times are in milliseconds. */
export interface LengthSummary {
  length: number;
  /** Number of events enqueued before the measurement. It is less than `length` if the contender was too slow. */
  made: number;
  p50: number | undefined;
  p99: number | undefined;
  acknowledgedP50: number | undefined;
  acknowledgedP99: number | undefined;
  cpu: number | undefined;
  /** `p50` divided by the median cost of raw IndexedDB in the interleaved frames. */
  p50ToRaw: number | undefined;
  /** `cpu` divided by the `cpu` of the raw IndexedDB contender at the same length. */
  cpuToRaw: number | undefined;
}

/** One contender's published results. */
export interface Summary {
  facts: ContenderInfo;
  version: string | undefined;
  size: Size | undefined;
  idle: PageResult['idle'] | undefined;
  lengths: LengthSummary[];
  framesWhileEnqueuing: FrameTimes | undefined;
  burst: PageResult['burst'] | undefined;
  drain: DrainResult | undefined;
  kills: KillResult[];
  faultyDrain: FaultyDrainResult | undefined;
}

export interface Report {
  about: RunInfo;
  minutes: number;
  gaps: string[];
  summaries: Summary[];
}

/** Summarizes the per-event measurements as percentiles. */
export function summarize({ about, minutes, gaps, measurements }: Results): Report {
  const raw = measurements.find(({ facts }) => facts.name === 'raw-group');
  const summaries = measurements.map((entry) => ({
    ...summarizeOne(entry, raw?.life?.lengths ?? []),
    version: about.versions[entry.facts.name],
  }));
  return { about, minutes, gaps, summaries };
}

function summarizeOne(measurements: Measurements, raw: LengthResult[]): Omit<Summary, 'version'> {
  const { life, ...rest } = measurements;
  return {
    ...rest,
    idle: life?.idle,
    lengths: (life?.lengths ?? []).map((lengthResult) =>
      summarizeLength(
        lengthResult,
        raw.find(({ length }) => length === lengthResult.length),
      ),
    ),
    framesWhileEnqueuing: life?.framesWhileEnqueuing,
    burst: life?.burst,
    drain: life?.drain,
  };
}

function summarizeLength(lengthResult: LengthResult, raw: LengthResult | undefined): LengthSummary {
  const { length, made, cost, acknowledgmentMs, yardstickCost, cpuPerEvent } = lengthResult;
  const p50 = median(cost);
  return {
    length,
    made,
    p50,
    p99: percentile(cost, 0.99),
    acknowledgedP50: median(acknowledgmentMs),
    acknowledgedP99: percentile(acknowledgmentMs, 0.99),
    cpu: cpuPerEvent,
    p50ToRaw: ratio(p50, median(yardstickCost)),
    cpuToRaw: ratio(cpuPerEvent, raw?.cpuPerEvent),
  };
}
