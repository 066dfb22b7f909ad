import type { Report, Summary } from '../summary.ts';
import { format, formatAll, table } from './markdown.ts';

/** A table in the report, with its plots and a description of how it was measured. */
export interface Section {
  title: string;
  plots: string[];
  table: string;
  method: string;
}

const formatName = ({ facts, version }: Summary): string =>
  facts.kind === 'ours' ? '**ours**' : version ? `${facts.name} ${version}` : facts.name;

const isQueue = ({ facts }: Summary): boolean => facts.kind !== 'control';
const sends = ({ facts }: Summary): boolean => facts.kind === 'ours' || facts.kind === 'peer';

const listLengths = ({ summaries }: Report): number[] =>
  summaries.find(({ lengths }) => lengths.length > 0)?.lengths.map(({ length }) => length) ?? [];

function createCostSection(report: Report): Section {
  const header = listLengths(report).map((length) => `at ${format(length)}`);
  return {
    title: 'Main-thread cost per event',
    plots: ['cost'],
    table: table(
      ['ms, p50 / p99 (× raw)', ...header, 'burst of 100'],
      report.summaries.map((summary) => [
        formatName(summary),
        ...summary.lengths.map(({ length, made, p50, p99, p50ToRaw }) => {
          const reached = made < length ? `; at ${format(made)}` : '';
          return `${formatAll([p50, p99])} (${format(p50ToRaw)}${reached})`;
        }),
        format(summary.burst?.cost),
      ]),
    ),
    method:
      'The time that the call and the microtasks it queues take. One event is enqueued every other frame, offline. ' +
      '“× raw” is the median’s ratio to raw IndexedDB (one put in a transaction), measured in the frames in between. ' +
      '“At” is the number of queued events. If the contender was too slow to reach that number, the cell states how many events it had received.',
  };
}

function createCpuSection(report: Report): Section {
  const header = listLengths(report).map((length) => `at ${format(length)}`);
  return {
    title: 'Main-thread CPU time per event, and the time until it is stored',
    plots: [],
    table: table(
      ['CPU ms (× raw); stored after ms, p50 / p99', ...header, 'burst of 100 stored'],
      report.summaries
        .filter(isQueue)
        .map((summary) => [
          formatName(summary),
          ...summary.lengths.map(
            ({ cpu, cpuToRaw, acknowledgedP50, acknowledgedP99 }) =>
              `${format(cpu)} (${format(cpuToRaw)}); ${formatAll([acknowledgedP50, acknowledgedP99])}`,
          ),
          format(summary.burst?.stored),
        ]),
    ),
    method:
      'CPU time on the renderer’s main thread, from the DevTools protocol, minus the baseline: the same frames without events. “× raw” is the ratio to `raw-group`. ' +
      'A dash means that the queue does not report when an event is stored.',
  };
}

function createFramesSection(report: Report): Section {
  return {
    title: 'Frame times in a game',
    plots: ['frames'],
    table: table(
      [
        '8 ms of game work per frame',
        'enqueuing: p99 ms',
        'long tasks',
        'draining: p99 ms',
        'long tasks',
        'longest task ms',
      ],
      report.summaries.map((summary) => [
        formatName(summary),
        format(summary.framesWhileEnqueuing?.p99),
        format(summary.framesWhileEnqueuing?.longTasks),
        format(summary.drain?.frames?.p99),
        format(summary.drain?.frames?.longTasks),
        format(summary.drain?.frames?.longestTask),
      ]),
    ),
    method:
      'Measured while one event per frame is added to the longest queue, and while the queue drains. ' +
      '“nothing” is the baseline without a queue. A long task takes more than 50 ms. ' +
      'A dash for draining means that the contender sends nothing, or that the page did not respond for 5 s.',
  };
}

function createSurvivorsSection(report: Report): Section {
  const allKills = report.summaries.flatMap(({ kills }) => kills);
  const cases = allKills.filter(
    (result, index) =>
      index ===
      allKills.findIndex(
        (candidate) => candidate.events === result.events && candidate.delayMs === result.delayMs,
      ),
  );
  return {
    title: 'Events that survive when the whole browser is killed (SIGKILL)',
    plots: [...new Set(cases.map(({ events }) => `survivors-${events}`))],
    table: table(
      [
        'survived / enqueued (acknowledged but lost)',
        ...cases.map(({ events, delayMs }) => `${format(events)}, ${delayMs} ms`),
      ],
      report.summaries.filter(isQueue).map((summary) => [
        formatName(summary),
        ...cases.map(({ events, delayMs }) => {
          const kill = summary.kills.find(
            (result) => result.events === events && result.delayMs === delayMs,
          );
          if (kill === undefined) return '–';
          const lost = kill.acknowledged > 0 ? ` (${format(kill.acknowledgedLost)})` : '';
          return `${format(kill.survived)} / ${format(kill.made)}${lost}`;
        }),
      ]),
    ),
    method:
      'The browser is offline, and is killed the given time after the last event. The page enqueues 25 events per frame in the 1,000-event runs and 50 per frame in the 10,000-event runs, for up to 6 s. ' +
      'The surviving events are those in IndexedDB and localStorage after a restart, counted without the contender’s own code. ' +
      '“Acknowledged” events are those whose promise had resolved, as reported by the page before the kill.',
  };
}

function createDrainSection(report: Report): Section {
  return {
    title: 'Draining',
    plots: ['drain'],
    table: table(
      ['', 'enqueued', 'stored', 'arrived', 's', 'events/s', 'requests', 'duplicate sends'],
      report.summaries.filter(sends).flatMap((summary) => {
        const { drain: result } = summary;
        if (result === undefined) return [];
        const rate = result.ms > 0 ? result.arrived / (result.ms / 1_000) : undefined;
        const figures = [result.made, result.stored, result.arrived, result.ms / 1_000, rate];
        const counts = [...figures, result.requests, result.duplicateSends];
        return [[formatName(summary), ...counts.map((count) => format(count))]];
      }),
    ),
    method:
      'The network returns, and the receiver responds after 20 ms. The measurement ends when all events have arrived, when none has arrived for 4 s, or after 12 s.',
  };
}

function createDuplicatesSection(report: Report): Section {
  return {
    title: 'Duplicates and losses under faults',
    plots: [],
    table: table(
      ['', 'enqueued', 'lost', 'duplicate sends', 'after deduplication', 'requests'],
      report.summaries.filter(sends).flatMap((summary) => {
        const { faultyDrain: result } = summary;
        if (result === undefined) return [];
        const lost = result.made - result.arrived;
        const counts = [
          result.duplicateSends,
          result.duplicatesAfterDeduplication,
          result.requests,
        ];
        return [
          [formatName(summary), ...[result.made, lost, ...counts].map((count) => format(count))],
        ];
      }),
    ),
    method:
      'The response to the second request is lost; when half of the events have arrived, the browser is killed and restarted. ' +
      'The receiver deduplicates events by the id that the queue assigned. An in-memory queue loses events instead of repeating them.',
  };
}

function createIdleSection(report: Report): Section {
  return {
    title: 'Idle and empty',
    plots: [],
    table: table(
      ['', 'timers', 'transactions', 'storage accesses', 'requests', 'CPU ms/s'],
      report.summaries.flatMap((summary) => {
        const { idle: result } = summary;
        if (result === undefined) return [];
        const { timers, transactions, storageAccesses, requests, cpuMsPerSecond } = result;
        const counts = [timers, transactions, storageAccesses, requests, cpuMsPerSecond];
        return [[formatName(summary), ...counts.map((count) => format(count))]];
      }),
    ),
    method:
      'Counted for a few seconds after the first events were sent. “nothing” is the baseline: the page itself.',
  };
}

function createSizeSection(report: Report): Section {
  return {
    title: 'Download size',
    plots: ['bytes'],
    table: table(
      ['', 'minified', 'gzip', 'brotli'],
      report.summaries.flatMap((summary) => {
        const { size } = summary;
        if (size === undefined) return [];
        return [
          [formatName(summary), format(size.minified), format(size.gzip), format(size.brotli)],
        ];
      }),
    ),
    method:
      'One classic script from the same bundler, including an adapter of about 20 lines. Ours includes its HTTP client and all browser ports.',
  };
}

/** Creates the report's sections, in order. */
export const createSections = (report: Report): Section[] =>
  [
    createCostSection,
    createCpuSection,
    createFramesSection,
    createSurvivorsSection,
    createDrainSection,
    createDuplicatesSection,
    createIdleSection,
    createSizeSection,
  ].map((createSection) => createSection(report));
