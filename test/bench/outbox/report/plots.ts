import type { Report, Summary } from '../summary.ts';
import { format } from './markdown.ts';
import { drawRowChart, type RowChart } from './row-chart.ts';

type PlotOptions = Pick<RowChart, 'title' | 'axis' | 'series' | 'style'> & {
  valuesOf: (summary: Summary) => (number | undefined)[];
  /** Whether the plot includes this contender. */
  includes: (summary: Summary) => boolean;
};

const sends = ({ facts }: Summary): boolean => facts.kind === 'ours' || facts.kind === 'peer';
const isQueue = ({ facts }: Summary): boolean => facts.kind !== 'control';

const draw = ({ summaries }: Report, { valuesOf, includes, ...options }: PlotOptions): string =>
  drawRowChart({
    ...options,
    format,
    rows: summaries.filter(includes).map((summary) => ({
      label: summary.facts.name,
      emphasized: summary.facts.kind === 'ours',
      values: valuesOf(summary),
    })),
  });

function drawSurvivorPlots(report: Report): [string, string][] {
  const kills = report.summaries.flatMap((summary) => summary.kills);
  const sizes = [...new Set(kills.map(({ events }) => events))];
  return sizes.map((events) => {
    const sameSizeKills = kills.filter((kill) => kill.events === events);
    const delays = [...new Set(sameSizeKills.map(({ delayMs }) => delayMs))];
    const svg = draw(report, {
      title: `Events that survive when the browser is killed (SIGKILL), out of ${format(events)}`,
      axis: '% of the enqueued events',
      series: delays.map((delay) => `${delay} ms after the last`),
      style: 'bars',
      includes: isQueue,
      valuesOf: ({ kills: ownSummary }) =>
        delays.map((delay) => {
          const kill = ownSummary.find((kill) => kill.events === events && kill.delayMs === delay);
          return kill && (100 * kill.survived) / kill.made;
        }),
    });
    return [`survivors-${events}`, svg];
  });
}

/** Draws all plots. Returns the SVG documents, keyed by name. */
export function drawPlots(report: Report): Map<string, string> {
  const lengths =
    report.summaries
      .find(({ lengths }) => lengths.length > 0)
      ?.lengths.map(({ length }) => `${format(length)} queued`) ?? [];
  const cost: PlotOptions = {
    title: 'Main-thread time per event, by queue length (the number is for the longest queue)',
    axis: 'ms, median, logarithmic: if the dots coincide, the cost does not grow',
    series: lengths,
    style: 'dots',
    includes: isQueue,
    valuesOf: (summary) => summary.lengths.map(({ p50 }) => p50),
  };
  const frames: PlotOptions = {
    title: 'Frame time in a game with 8 ms of work per frame',
    axis: 'ms, 99th percentile; 16.7 is a smooth 60 frames per second',
    series: ['enqueuing', 'draining'],
    style: 'bars',
    includes: () => true,
    valuesOf: (summary) => [summary.framesWhileEnqueuing?.p99, summary.drain?.frames?.p99],
  };
  const drain: PlotOptions = {
    title: 'Draining a long queue',
    axis: 'events per second, logarithmic',
    series: ['events per second'],
    style: 'dots',
    includes: sends,
    valuesOf: ({ drain: result }) => [
      result && result.ms > 0 ? result.arrived / (result.ms / 1_000) : undefined,
    ],
  };
  const bytes: PlotOptions = {
    title: 'Download size',
    axis: 'kB, gzip',
    series: ['gzip'],
    style: 'bars',
    includes: isQueue,
    valuesOf: ({ size }) => [size && size.gzip / 1_000],
  };
  return new Map([
    ['cost', draw(report, cost)],
    ['frames', draw(report, frames)],
    ...drawSurvivorPlots(report),
    ['drain', draw(report, drain)],
    ['bytes', draw(report, bytes)],
  ]);
}
