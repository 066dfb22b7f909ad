import { capWindowMs, exceedsCaps } from '../decision/caps.ts';
import { isKilled } from '../decision/kill-switches.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import type { Count } from '../report/rollup.ts';
import type { Scope } from '../resource/scope.ts';
import { checkReward, type RewardVerdict } from '../reward/check-reward.ts';
import type { Receipts } from '../reward/receipt.ts';
import type { Watch } from '../reward/watch-time.ts';
import type { Queries } from '../store/database.ts';
import type { EventDraft } from '../webhook/event-writer.ts';
import { checkImpression } from './check-impression.ts';
import { checkTraffic, unseenWithinMs } from './check-traffic.ts';
import type { DecisionState } from './decision-state.ts';
import { countUnseen, readEvidence, readServedAround, readWatches } from './event-store.ts';
import { markInvalid, markServed, moveReward } from './move-decision.ts';
import type { RecordedEvent } from './recorded-event.ts';

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
  const sinceMs = Math.min(...decisions.map(({ issuedAtMs }) => issuedAtMs)) - watchesBackMs;
  const watches = viewers.length === 0 ? [] : await readWatches(queries, scope, viewers, sinceMs);

  for (const decision of decisions) {
    const events = evidence.filter(({ decisionId }) => decisionId === decision.id);
    const others = watches.filter(
      ({ viewer, decisionId }) => viewer === decision.viewer && decisionId !== decision.id,
    );
    const { state, verdict } = await judge(parts, decision, events, others, judged);
    judged.decisions.push(state);
    if (verdict?.watch && state.rewardState === 'earned' && decision.viewer !== null) {
      watches.push({ ...verdict.watch, viewer: decision.viewer, decisionId: decision.id });
    }
  }
  return judged;
}

/** As long as an ad may wait, so that each watch is seen beside those that it could lean on. */
const watchesBackMs = 600_000;

async function judge(
  parts: Parts,
  decision: DecisionState,
  events: RecordedEvent[],
  otherWatches: readonly Watch[],
  judged: Judged,
): Promise<{ state: DecisionState; verdict: RewardVerdict | undefined }> {
  const checked = await applyTraffic(parts, decision, events, judged);
  const invalid = checked.invalidReason !== null;
  const seenAtMs = invalid ? undefined : checkImpression(checked, events);
  const servedAtMs = checked.servedAtMs ?? seenAtMs;
  const verdict = isFinal(checked)
    ? undefined
    : (refusalOf(parts, checked) ??
      checkReward({
        decision: checked,
        events,
        servedAtMs,
        invalid,
        killed: isDecisionKilled(parts.snapshot, checked, parts.nowMs),
        otherWatches,
        capped: servedAtMs !== undefined && (await isCapped(parts, checked, servedAtMs)),
      }));
  const served = await applyServed(parts, checked, servedAtMs, judged);
  return { state: await applyReward(parts, served, verdict, judged), verdict };
}

const isFinal = ({ rewardState }: DecisionState): boolean =>
  rewardState !== 'none' && rewardState !== 'pending';

const refusalOf = ({ refused }: Parts, { id, format }: DecisionState): RewardVerdict | undefined =>
  format === 'rewarded' ? refused.get(id) : undefined;

/** Marks what no player can have done. */
async function applyTraffic(
  { queries, scope, nowMs }: Parts,
  decision: DecisionState,
  events: RecordedEvent[],
  judged: Judged,
): Promise<DecisionState> {
  if (decision.invalidReason !== null) return decision;
  const { id, requiredMs } = decision;
  const unseen =
    decision.viewer === null || decision.servedAtMs !== null
      ? 0
      : await countUnseen(queries, scope, decision, unseenWithinMs);
  const invalidReason = checkTraffic({ requiredMs, events, unseen });
  if (!invalidReason || !(await markInvalid(queries, scope.accountId, id, invalidReason))) {
    return decision;
  }
  judged.counts.push(countOf(scope, decision, nowMs, 'invalid_traffic', invalidReason));
  return { ...decision, invalidReason };
}

/** Asking for many ads at first does not lift the caps: they hold again when the reward is claimed. */
async function isCapped(
  { queries, scope, snapshot }: Parts,
  decision: DecisionState,
  servedAtMs: number,
): Promise<boolean> {
  const placement = snapshot.placements.get(decision.placement)?.placement;
  const windowMs = placement ? capWindowMs(placement) : 0;
  if (!placement || windowMs === 0 || decision.viewer === null) return false;
  const others = await readServedAround(queries, scope, decision, servedAtMs, windowMs);
  return exceedsCaps(placement, others, servedAtMs);
}

async function applyServed(
  { queries, scope }: Parts,
  decision: DecisionState,
  servedAtMs: number | undefined,
  judged: Judged,
): Promise<DecisionState> {
  if (servedAtMs === undefined || decision.servedAtMs !== null) return decision;
  if (!(await markServed(queries, scope.accountId, decision.id, servedAtMs))) return decision;
  judged.counts.push(countOf(scope, decision, servedAtMs, 'impressions'));
  judged.events.push({
    type: 'decision.served',
    data: {
      decision_id: decision.id,
      placement: decision.placement,
      creative_id: decision.creativeId,
      advertiser_id: decision.advertiserId,
      source_id: decision.sourceId,
      ...(decision.userRef === null ? {} : { user_ref: decision.userRef }),
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
  // What names a child is not stored in clear; its receipt is signed again for whoever holds the token.
  const isChild = decision.userRef === null;
  const receipt =
    earned && !isChild
      ? await receipts.sign({ scope, decisionId: id, userRef, placement, reward, nowMs })
      : null;
  if (!(await moveReward(queries, scope.accountId, id, verdict, receipt, nowMs))) return decision;
  if (verdict.state !== 'pending') {
    judged.counts.push(countOf(scope, decision, nowMs, `rewards_${verdict.state}`, verdict.reason));
  }
  if (earned) {
    const custom = decision.customData === null ? {} : { custom_data: decision.customData };
    const data = { decision_id: id, placement, user_ref: userRef, reward, ...custom };
    judged.events.push({ type: 'decision.rewarded', data, confidential: isChild });
  }
  return {
    ...decision,
    rewardState: verdict.state,
    rewardReason: verdict.reason ?? null,
    receipt,
    settledAtMs: verdict.state === 'pending' ? null : nowMs,
  };
}

/** One more of `metric` under everything that the decision is reported by. */
export function countOf(
  scope: Scope,
  decision: Pick<
    DecisionState,
    'placement' | 'creativeId' | 'sourceId' | 'advertiserId' | 'houseAdId'
  >,
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
