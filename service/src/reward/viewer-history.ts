import { capWindowMs, pageRewardLimits } from '../decision/caps.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import type { Scope, Queries } from '../store/database.ts';
import type { AdView } from './watch-time.ts';
import { impressionGraceMs } from './check-events.ts';
import {
  type DecisionState,
  isCompletion,
  type RecordedEvent,
} from '../decision/decision-state.ts';
import { readRewardedAds, readAdViews, type RewardedAd } from './read-decisions.ts';
import type { Transition } from './transitions.ts';

/** The players' other ad views and rewards, which affect the verdicts. Includes state changes from the same batch. */
export interface ViewerHistory {
  /** Returns the player's other ad views that earned a reward. */
  otherAdViews(decision: DecisionState): AdView[];
  /** Returns the times of the player's other rewarded impressions on the placement within `withinMs` of `atMs`. */
  rewardTimesNear(
    decision: DecisionState,
    atMs: number,
    withinMs: number,
    onlyInPage?: boolean,
  ): number[];
  add(transition: Transition): void;
}

/** Lookback period for ad views: the maximum time for which an ad may be preloaded. */
const adViewLookbackMs = 600_000;

/**
 * Reads the history for all decisions with a completed ad and an unsettled reward. Executes at most two statements.
 *
 * @param recordedEvents the recorded events by decision
 */
export async function readHistory(
  queries: Queries,
  scope: Scope,
  snapshot: Snapshot,
  decisions: readonly DecisionState[],
  recordedEvents: ReadonlyMap<string, readonly RecordedEvent[]>,
): Promise<ViewerHistory> {
  const openDecisions = decisions.filter(
    ({ id, viewer, rewardState }) =>
      viewer !== null &&
      (rewardState === 'none' || rewardState === 'pending') &&
      recordedEvents.get(id)?.some(isCompletion),
  );
  const computeCapWindow = (decision: DecisionState): number => {
    const placement = snapshot.placements.get(decision.placement)?.placement;
    const pageWindowMs = decision.evidence ? capWindowMs(pageRewardLimits(placement)) : 0;
    return Math.max(placement ? capWindowMs(placement) : 0, pageWindowMs);
  };
  const cappedDecisions = openDecisions.filter((decision) => computeCapWindow(decision) > 0);
  const [adViews, rewardedAds] = await Promise.all([
    readAdViews(
      queries,
      scope,
      listViewers(openDecisions),
      Math.min(...openDecisions.map(({ issuedAtMs }) => issuedAtMs)) - adViewLookbackMs,
    ),
    readRewardedAds(queries, scope, listViewers(cappedDecisions), [
      Math.min(
        ...cappedDecisions.map((decision) => decision.issuedAtMs - computeCapWindow(decision)),
      ),
      Math.max(
        ...cappedDecisions.map(
          (decision) => decision.expiresAtMs + impressionGraceMs + computeCapWindow(decision),
        ),
      ),
    ]),
  ]);
  return createHistory({
    adViews: groupByViewer(adViews),
    rewardedAds: groupByViewer(rewardedAds),
  });
}

const listViewers = (decisions: readonly DecisionState[]): string[] => [
  ...new Set(decisions.flatMap(({ viewer }) => viewer ?? [])),
];

type ByViewer<T> = Map<string, T[]>;

function groupByViewer<T extends { viewer: string }>(items: readonly T[]): ByViewer<T> {
  const groups: ByViewer<T> = new Map();
  for (const item of items) addToGroup(groups, item.viewer, item);
  return groups;
}

function addToGroup<T>(groups: ByViewer<T>, viewer: string, item: T): void {
  const group = groups.get(viewer);
  if (group) group.push(item);
  else groups.set(viewer, [item]);
}

interface HistoryRecords {
  adViews: ByViewer<AdView & { decisionId: string }>;
  rewardedAds: ByViewer<Omit<RewardedAd, 'viewer'>>;
}

function createHistory({ adViews, rewardedAds }: HistoryRecords): ViewerHistory {
  const findGroup = <T>(groups: ByViewer<T>, { viewer }: DecisionState): T[] =>
    (viewer === null ? undefined : groups.get(viewer)) ?? [];
  return {
    otherAdViews: (decision) =>
      findGroup(adViews, decision).filter(({ decisionId }) => decisionId !== decision.id),
    rewardTimesNear: (decision, atMs, withinMs, onlyInPage = false) =>
      findGroup(rewardedAds, decision)
        .filter(({ decisionId }) => decisionId !== decision.id)
        .filter((other) => other.placement === decision.placement)
        .filter(({ isInPage }) => isInPage || !onlyInPage)
        .map((other) => other.atMs)
        .filter((otherMs) => Math.abs(otherMs - atMs) < withinMs),
    add({ after, adView }) {
      const { id: decisionId, viewer, placement, servedAtMs, rewardState, evidence } = after;
      if (viewer === null) return;
      if (adView) addToGroup(adViews, viewer, { decisionId, ...adView });
      if (servedAtMs === null || rewardState !== 'earned') return;
      const isInPage = evidence !== null;
      addToGroup(rewardedAds, viewer, { decisionId, placement, isInPage, atMs: servedAtMs });
    },
  };
}
