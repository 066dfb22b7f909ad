import { isKilled } from '../decision/kill-switches.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import type { Count } from '../report/rollup.ts';
import type { Scope } from '../resource/scope.ts';
import { checkReward, type RewardVerdict } from '../reward/check-reward.ts';
import type { Receipts } from '../reward/receipt.ts';
import type { Queries } from '../store/database.ts';
import type { EventDraft } from '../webhook/event-writer.ts';
import { checkImpression } from './check-impression.ts';
import type { DecisionState } from './decision-state.ts';
import { countServed, markServed, moveReward, readEvidence, readWatches } from './event-store.ts';

interface Parts {
  queries: Queries;
  scope: Scope;
  snapshot: Snapshot;
  receipts: Receipts;
  nowMs: number;
  /** The users' names by decision, as their tokens say: a child's is not stored. */
  userRefs: ReadonlyMap<string, string>;
  /** Rewards whose completion was refused on arrival. */
  refused: ReadonlyMap<string, RewardVerdict>;
}

/** What came of it: the new states, and what has to be written along. */
export interface Judged {
  decisions: DecisionState[];
  events: EventDraft[];
  counts: Count[];
}

/** Whether a kill switch stops the ad of a decision. */
export function isDecisionKilled(
  snapshot: Snapshot,
  decision: DecisionState,
  nowMs: number,
): boolean {
  const { placement, advertiserId, sourceId } = decision;
  const placementId = snapshot.placements.get(placement)?.placement.id;
  const target = {
    placement,
    advertiserId,
    sourceId,
    ...(placementId === undefined ? {} : { placementId }),
  };
  return isKilled(snapshot, target, nowMs);
}

/** Judges impressions and rewards of decisions that have new evidence, and moves them on. */
export async function judgeDecisions(
  parts: Parts,
  decisions: readonly DecisionState[],
): Promise<Judged> {
  const { queries, scope } = parts;
  const judged: Judged = { decisions: [], events: [], counts: [] };
  if (decisions.length === 0) return judged;
  const evidence = await readEvidence(
    queries,
    scope.accountId,
    decisions.map(({ id }) => id),
  );
  const viewers = [...new Set(decisions.flatMap(({ viewer }) => viewer ?? []))];
  const earliest = Math.min(...decisions.map(({ issuedAtMs }) => issuedAtMs));
  const watches = viewers.length === 0 ? [] : await readWatches(queries, scope, viewers, earliest);

  for (const decision of decisions) {
    const events = evidence.filter(({ decisionId }) => decisionId === decision.id);
    const others = watches.filter(
      ({ viewer, decisionId }) => viewer === decision.viewer && decisionId !== decision.id,
    );
    const servedAtMs = decision.servedAtMs ?? checkImpression(decision, events);
    const judgement = checkReward({
      decision,
      events,
      servedAtMs,
      killed: isDecisionKilled(parts.snapshot, decision, parts.nowMs),
      otherWatches: others,
      capped: servedAtMs !== undefined && (await isCapped(parts, decision, servedAtMs)),
    });
    const refusal = decision.format === 'rewarded' ? parts.refused.get(decision.id) : undefined;
    const verdict = refusal ?? judgement;
    const served = await applyServed(parts, decision, servedAtMs, judged);
    const settled = await applyReward(parts, served, verdict, judged);
    judged.decisions.push(settled);
    if (verdict?.watch && settled.rewardState === 'earned' && decision.viewer !== null) {
      watches.push({ ...verdict.watch, viewer: decision.viewer, decisionId: decision.id });
    }
  }
  return judged;
}

/** Asking for many ads at first does not lift the cap: it holds again when the reward is claimed. */
async function isCapped(
  { queries, scope, snapshot }: Parts,
  decision: DecisionState,
  servedAtMs: number,
): Promise<boolean> {
  const cap = snapshot.placements.get(decision.placement)?.placement.frequency_cap;
  if (!cap || decision.viewer === null) return false;
  const afterMs = servedAtMs - cap.per_s * 1_000;
  return (
    (await countServed(queries, scope, decision, { afterMs, beforeMs: servedAtMs })) >= cap.max
  );
}

async function applyServed(
  { queries, scope, userRefs }: Parts,
  decision: DecisionState,
  servedAtMs: number | undefined,
  judged: Judged,
): Promise<DecisionState> {
  if (servedAtMs === undefined || decision.servedAtMs !== null) return decision;
  if (!(await markServed(queries, scope.accountId, decision.id, servedAtMs))) return decision;
  const userRef = userRefs.get(decision.id);
  judged.counts.push(countOf(scope, decision, servedAtMs, 'impressions'));
  judged.events.push({
    type: 'decision.served',
    data: {
      decision_id: decision.id,
      placement: decision.placement,
      creative_id: decision.creativeId,
      advertiser_id: decision.advertiserId,
      source_id: decision.sourceId,
      ...(userRef === undefined ? {} : { user_ref: userRef }),
      viewable: true,
    },
  });
  return { ...decision, servedAtMs };
}

async function applyReward(
  { queries, scope, receipts, nowMs, userRefs }: Parts,
  decision: DecisionState,
  verdict: RewardVerdict | undefined,
  judged: Judged,
): Promise<DecisionState> {
  if (!verdict || decision.rewardState === verdict.state) return decision;
  const { id, placement, reward } = decision;
  const userRef = userRefs.get(id);
  const earned = verdict.state === 'earned' && reward !== null && userRef !== undefined;
  const receipt = earned
    ? await receipts.sign({ scope, decisionId: id, userRef, placement, reward, nowMs })
    : null;
  if (!(await moveReward(queries, scope.accountId, id, verdict, receipt, nowMs))) return decision;
  if (verdict.state !== 'pending') {
    judged.counts.push(countOf(scope, decision, nowMs, `rewards_${verdict.state}`, verdict.reason));
  }
  if (earned) {
    const custom = decision.customData === null ? {} : { custom_data: decision.customData };
    const data = { decision_id: id, placement, user_ref: userRef, reward, ...custom };
    judged.events.push({ type: 'decision.rewarded', data });
  }
  return { ...decision, rewardState: verdict.state, rewardReason: verdict.reason ?? null, receipt };
}

/** One more of `metric` under everything that the decision is reported by. */
export function countOf(
  scope: Scope,
  decision: DecisionState,
  atMs: number,
  metric: string,
  reason?: string,
): Count {
  return {
    dimensions: {
      environment: scope.environment,
      placement: decision.placement,
      creativeId: decision.creativeId,
      sourceId: decision.sourceId,
      advertiserId: decision.advertiserId,
      houseAdId: decision.houseAdId,
    },
    atMs,
    metric,
    ...(reason === undefined ? {} : { reason }),
  };
}
