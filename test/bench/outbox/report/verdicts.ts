import { ratio } from '../statistics.ts';
import type { Report, Summary } from '../summary.ts';
import { format } from './markdown.ts';

/** A claim about the outbox, and what was measured. */
export interface Verdict {
  claim: string;
  value: string;
  /** Whether the claim holds. Undefined if this run did not measure it. */
  met: boolean | undefined;
}

interface Field {
  ours: Summary;
  peers: Summary[];
  control: Summary | undefined;
}

const findBest = (
  peers: Summary[],
  measure: (summary: Summary) => number | undefined,
  order: 'least' | 'most',
): { name: string; value: number } | undefined => {
  const candidates = peers.flatMap(({ facts, ...rest }) => {
    const value = measure({ facts, ...rest });
    return value === undefined ? [] : [{ name: facts.name, value }];
  });
  const sorted = candidates.toSorted((a, b) => a.value - b.value);
  return order === 'least' ? sorted[0] : sorted.at(-1);
};

function judgeGrowth({ ours }: Field): Verdict {
  const [first, last] = [ours.lengths[0], ours.lengths.at(-1)];
  // The machine's speed varies, so this compares times relative to raw IndexedDB, measured in interleaved frames.
  const growthRatio = ratio(last?.p50ToRaw, first?.p50ToRaw);
  const [wall, cpu] = [ratio(last?.p50, first?.p50), ratio(last?.cpu, first?.cpu)];
  return {
    claim: `The cost per event stays flat: with ${format(last?.length)} stored events, at most 1.3 × the cost with ${format(first?.length)}`,
    value: `${format(growthRatio)} × relative to raw IndexedDB at the same time, ${format(wall)} × in ms (p50), ${format(cpu)} × (all CPU)`,
    met: growthRatio === undefined ? undefined : growthRatio <= 1.3,
  };
}

/** Returns whether the queue's events survive when the browser is killed. An in-memory queue loses them. */
const isDurable = ({ kills }: Summary): boolean => kills.some(({ survived }) => survived > 0);

function compareWithDurablePeers({ ours, peers, control }: Field): Verdict {
  const verdict = compareWithPeers({ ours, peers: peers.filter(isDurable), control });
  return {
    ...verdict,
    claim: 'Main-thread cost below that of every peer whose events survive a kill',
  };
}

function compareWithPeers({ ours, peers }: Field): Verdict {
  const rows = ours.lengths.map(({ length, p50 }) => {
    const best = findBest(
      peers,
      (peer) => peer.lengths.find((entry) => entry.length === length)?.p50,
      'least',
    );
    return { length, p50, best };
  });
  const comparableRows = rows.filter(({ best }) => best !== undefined);
  return {
    claim: 'Main-thread cost below that of every peer at each length',
    value: comparableRows
      .map(
        ({ length, p50, best }) =>
          `at ${format(length)}: ${format(p50)} ms, best peer ${best?.name} ${format(best?.value)} ms`,
      )
      .join('; '),
    met:
      comparableRows.length === 0
        ? undefined
        : comparableRows.every(({ p50, best }) => p50 !== undefined && p50 < (best?.value ?? 0)),
  };
}

function compareWithRaw({ ours }: Field): Verdict {
  const ratios = ours.lengths.flatMap(({ p50ToRaw }) => p50ToRaw ?? []);
  const cpu = ours.lengths.map(({ cpuToRaw }) => format(cpuToRaw)).join(', ');
  return {
    claim: 'Main-thread cost ≤ 1.5 × raw IndexedDB in the same run',
    value: `${ratios.map((value) => format(value)).join(', ')} × (p50, by length); ${cpu} × (all CPU)`,
    met: ratios.length === 0 ? undefined : ratios.every((value) => value <= 1.5),
  };
}

function judgeAcknowledged({ ours }: Field): Verdict {
  const acknowledgedCount = ours.kills.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  const lost = ours.kills.reduce((sum, { acknowledgedLost }) => sum + acknowledgedLost, 0);
  return {
    claim: 'Killing the browser loses no event whose promise had resolved',
    value: `${format(lost)} lost of ${format(acknowledgedCount)} in ${ours.kills.length} kills`,
    met: acknowledgedCount === 0 ? undefined : lost === 0,
  };
}

function compareSurvivors({ ours, peers }: Field): Verdict {
  const share = (counts: { survived: number; made: number } | undefined): number | undefined =>
    ratio(counts?.survived, counts?.made);
  const rows = ours.kills.map((kill) => {
    const best = findBest(
      peers,
      ({ kills }) =>
        share(
          kills.find(
            (candidate) => candidate.events === kill.events && candidate.delayMs === kill.delayMs,
          ),
        ),
      'most',
    );
    return { kill, share: share(kill) ?? 0, best };
  });
  const formatPercent = (value: number | undefined): string => `${format((value ?? 0) * 100)}%`;
  return {
    claim: 'Of all queues, the outbox keeps the most events after a kill, at every delay',
    value: rows
      .map(
        ({ kill, share: own, best }) =>
          `${format(kill.events)} at ${kill.delayMs} ms: ${formatPercent(own)}, best peer ${best?.name ?? 'none'} ${formatPercent(best?.value)}`,
      )
      .join('; '),
    met:
      rows.length === 0 || peers.length === 0
        ? undefined
        : rows.every(({ share: own, best }) => own >= (best?.value ?? 0)),
  };
}

function judgeCounts({ ours }: Field): Verdict {
  const counts = [ours.drain, ours.faultyDrain].flatMap((result) =>
    result === undefined ? [] : [result.duplicatesAfterDeduplication],
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  return {
    claim: 'The service deduplicates events, so that none is counted twice',
    value: `${format(total)} counted twice`,
    met: counts.length === 0 ? undefined : total === 0,
  };
}

function judgeDuplicates({ ours, peers }: Field): Verdict {
  const losslessPeers = peers.filter(
    ({ faultyDrain }) => faultyDrain?.arrived === faultyDrain?.made,
  );
  const count = ({ faultyDrain }: Summary): number | undefined => faultyDrain?.duplicateSends;
  const ourCount = count(ours);
  const best = findBest(peers, count, 'least');
  const bestLossless = findBest(losslessPeers, count, 'least');
  const losslessNote = bestLossless
    ? `; fewest by a peer that lost nothing: ${bestLossless.name} ${format(bestLossless.value)}`
    : '; every peer lost events';
  return {
    claim: 'Fewer duplicate sends than any peer',
    value: `healthy: ${format(ours.drain?.duplicateSends)}; under faults: ${format(ourCount)}; fewest by any peer: ${best?.name ?? 'none'} ${format(best?.value)}${losslessNote}`,
    met: ourCount === undefined || best === undefined ? undefined : ourCount < best.value,
  };
}

function judgeLongTasks({ ours, control }: Field): Verdict {
  const longTasks = ours.drain?.frames?.longTasks;
  return {
    claim: `Draining ${format(ours.drain?.made)} events causes no long tasks`,
    value: `${format(longTasks)} long tasks (without any queue, while enqueuing: ${format(control?.framesWhileEnqueuing?.longTasks)})`,
    met: longTasks === undefined ? undefined : longTasks === 0,
  };
}

function judgeIdle({ ours }: Field): Verdict {
  const { idle } = ours;
  const wakeUps = idle && idle.timers + idle.transactions + idle.storageAccesses + idle.requests;
  return {
    claim: 'No work, timers or wake-ups when idle and empty',
    value: `${format(wakeUps)} timers, transactions, storage accesses and requests`,
    met: wakeUps === undefined ? undefined : wakeUps === 0,
  };
}

const judges = [
  judgeGrowth,
  compareWithPeers,
  compareWithDurablePeers,
  compareWithRaw,
  judgeAcknowledged,
  compareSurvivors,
  judgeCounts,
  judgeDuplicates,
  judgeLongTasks,
  judgeIdle,
];

/** Checks each claim against this run. Returns an empty list if our outbox was not measured. */
export function judge({ summaries }: Report): Verdict[] {
  const ours = summaries.find(({ facts }) => facts.kind === 'ours');
  if (ours === undefined) return [];
  const peers = summaries.filter(({ facts }) => facts.kind === 'peer');
  const control = summaries.find(({ facts }) => facts.kind === 'control');
  const field = { ours, peers, control };
  return judges.map((judgeClaim) => judgeClaim(field));
}

export const describeVerdict = ({ met }: Verdict): string =>
  met === undefined ? 'not measured' : met ? 'met' : 'NOT met';
