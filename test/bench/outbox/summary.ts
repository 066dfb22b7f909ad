import type { About } from './about.ts';
import type { Size } from './bundle.ts';
import type { ContestantFacts } from './contestants.ts';
import type { FaultyDrainResult } from './measure/faulty-drain.ts';
import type { KillResult } from './measure/kill.ts';
import type { DrainResult, LengthResult, LifeResult } from './measure/life.ts';
import type { Measured, Results } from './results.ts';
import { median, percentile, ratio } from './statistics.ts';

/** Cost of an event at one length of the queue; times in milliseconds. */
export interface LengthSummary {
  length: number;
  /** Events that were made before; less than `length` where the contestant was too slow. */
  made: number;
  p50: number | undefined;
  p99: number | undefined;
  acknowledgedP50: number | undefined;
  acknowledgedP99: number | undefined;
  cpu: number | undefined;
  /** To raw IndexedDB in the frames between those of this contestant. */
  p50ToRaw: number | undefined;
  /** To the contestant that is raw IndexedDB, at the same length. */
  cpuToRaw: number | undefined;
}

export interface Frames {
  p99: number | undefined;
  longTasks: number | undefined;
  longestTask: number | undefined;
}

/** All figures of one contestant, as they are published. */
export interface Summary {
  facts: ContestantFacts;
  version: string | undefined;
  size: Size | undefined;
  lives: number;
  idle: LifeResult['idle'] | undefined;
  lengths: LengthSummary[];
  framesWhileEnqueuing: Frames;
  framesWhileDraining: Frames;
  burst: { cost: number | undefined; stored: number | undefined };
  drain: Omit<DrainResult, 'frames'> | undefined;
  kills: KillResult[];
  faultyDrain: FaultyDrainResult | undefined;
}

export interface Report {
  about: About;
  minutes: number;
  gaps: string[];
  summaries: Summary[];
}

/** Condenses what was measured: pooled percentiles of events, medians of everything else. */
export function summarize(results: Results): Report {
  const raw = results.measured.find(({ facts }) => facts.name === 'raw-group');
  const rawLengths = raw === undefined ? [] : summarizeLengths(raw.lives, []);
  return {
    about: results.about,
    minutes: results.minutes,
    gaps: results.gaps,
    summaries: results.measured.map((measured) => ({
      ...summarizeOne(measured, rawLengths),
      version: results.about.versions[measured.facts.name],
    })),
  };
}

function summarizeOne(measured: Measured, raw: LengthSummary[]): Omit<Summary, 'version'> {
  const { facts, size, lives, kills, faultyDrain } = measured;
  // The one in the middle, so that its figures belong together.
  const drains = lives.flatMap(({ drain }) => drain ?? []).toSorted((a, b) => a.ms - b.ms);
  const drain = drains[Math.floor(drains.length / 2)];
  return {
    facts,
    size,
    lives: lives.length,
    idle: lives[0]?.idle,
    lengths: summarizeLengths(lives, raw),
    framesWhileEnqueuing: summarizeFrames(lives.map((life) => life.framesWhileEnqueuing)),
    framesWhileDraining: summarizeFrames(drains.flatMap(({ frames }) => frames ?? [])),
    burst: {
      cost: median(lives.map(({ burst }) => burst.cost)),
      stored: median(lives.flatMap(({ burst }) => burst.stored ?? [])),
    },
    drain,
    kills,
    faultyDrain,
  };
}

const summarizeFrames = (
  all: { p99: number; longTasks: number; longestTask: number }[],
): Frames => ({
  p99: median(all.map(({ p99 }) => p99)),
  longTasks: median(all.map(({ longTasks }) => longTasks)),
  longestTask: median(all.map(({ longestTask }) => longestTask)),
});

function summarizeLengths(lives: LifeResult[], raw: LengthSummary[]): LengthSummary[] {
  const lengths = lives[0]?.lengths.map(({ length }) => length) ?? [];
  return lengths.map((length) => {
    const same = lives.flatMap((life) => life.lengths.filter((one) => one.length === length));
    const limit = raw.find((one) => one.length === length);
    return summarizeLength(length, same, limit);
  });
}

function summarizeLength(
  length: number,
  same: LengthResult[],
  limit: LengthSummary | undefined,
): LengthSummary {
  const cost = same.flatMap((one) => one.cost);
  const acknowledgement = same.flatMap((one) => one.acknowledgement);
  const p50 = percentile(cost, 0.5);
  const cpu = median(same.map(({ cpuPerEvent }) => cpuPerEvent));
  return {
    length,
    made: Math.min(...same.map(({ made }) => made)),
    p50,
    p99: percentile(cost, 0.99),
    acknowledgedP50: percentile(acknowledgement, 0.5),
    acknowledgedP99: percentile(acknowledgement, 0.99),
    cpu,
    p50ToRaw: ratio(p50, median(same.flatMap(({ yardstickCost }) => yardstickCost))),
    cpuToRaw: ratio(cpu, limit?.cpu),
  };
}
