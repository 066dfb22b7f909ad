import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';
import { formatInstant } from '../platform/time.ts';
import { type Count, createCount } from '../history/rollup.ts';
import type { EventDraft } from '../resource/change-events.ts';
import { verified } from './receipt.ts';
import type { AdView } from './watch-time.ts';
import type { Queries, Scope } from '../store/database.ts';
import type { EarnedReward } from '../wallet/credit-rewards.ts';

/** A decision's state change: its impression was verified, its reward changed, or it was marked as invalid traffic. */
export interface Transition {
  before: DecisionState;
  after: DecisionState;
  /** When the player watched the ad; set only if the reward was earned. */
  adView?: AdView;
}

const formatIfSet = (ms: number | null | undefined): string | null =>
  ms == null ? null : formatInstant(ms);

/**
 * Writes state changes.
 *
 * @throws Error when a row's state has changed since the transition was computed. That would be a bug, because the rows
 * are locked.
 */
export async function writeTransitions(
  queries: Queries,
  { accountId, environment }: Scope,
  transitions: readonly Transition[],
): Promise<void> {
  if (transitions.length === 0) return;
  const ids = transitions.map(({ before }) => before.id);
  const rows = await queries.query(
    `UPDATE decisions SET invalid_reason = move.invalid_reason, served_at = move.served_at,
        reward_state = move.reward_state, reward_reason = move.reward_reason,
        watch_from = coalesce(move.watch_from, decisions.watch_from),
        watch_to = coalesce(move.watch_to, decisions.watch_to),
        watch_offset_ms = coalesce(move.watch_offset_ms, decisions.watch_offset_ms), settled_at = move.settled_at
      FROM jsonb_to_recordset($2::text::jsonb) AS move(id text, served_before timestamptz, reward_before text,
        invalid_reason text, served_at timestamptz, reward_state text, reward_reason text,
        watch_from timestamptz, watch_to timestamptz, watch_offset_ms bigint, settled_at timestamptz)
      WHERE decisions.account_id = $1 AND decisions.environment = $4 AND decisions.id = move.id AND decisions.id = ANY($3::text[])
        AND decisions.reward_state = move.reward_before
        AND decisions.served_at IS NOT DISTINCT FROM move.served_before
      RETURNING decisions.id`,
    [accountId, JSON.stringify(transitions.map(toRow)), ids, environment],
  );
  if (rows.length !== transitions.length) {
    throw new Error(`Updated ${rows.length} locked decisions; expected ${transitions.length}.`);
  }
}

const toRow = ({ before, after, adView }: Transition): object => ({
  id: after.id,
  served_before: formatIfSet(before.servedAtMs),
  reward_before: before.rewardState,
  invalid_reason: after.invalidReason,
  served_at: formatIfSet(after.servedAtMs),
  reward_state: after.rewardState,
  reward_reason: after.rewardReason,
  watch_from: formatIfSet(adView?.fromMs),
  watch_to: formatIfSet(adView?.toMs),
  watch_offset_ms: adView?.offsetMs,
  settled_at: formatIfSet(after.settledAtMs),
});

/** Whether the transition verifies the impression. */
export const isNewlyServed = ({ before, after }: Transition): boolean =>
  before.servedAtMs === null && after.servedAtMs !== null && after.evidence === null;
const isNewlySettled = ({ before, after }: Transition): boolean =>
  before.rewardState !== after.rewardState && after.rewardState !== 'pending';

/** Returns the rewards that the transitions earn. */
export const listEarned = (
  transitions: readonly Transition[],
  userRefs: ReadonlyMap<string, string>,
): EarnedReward[] =>
  transitions.flatMap(({ before, after }) =>
    after.rewardState === 'earned' && before.rewardState !== 'earned'
      ? {
          decisionId: after.id,
          viewer: after.viewer,
          userRef: userRefs.get(after.id),
          reward: after.reward,
        }
      : [],
  );

/** Returns report counts for transitions. */
export function countTransitions(
  scope: Scope,
  transitions: readonly Transition[],
  nowMs: number,
): Count[] {
  return transitions.flatMap((transition) => {
    const { before, after } = transition;
    const { invalidReason, servedAtMs, rewardState, rewardReason } = after;
    return [
      ...(invalidReason !== null && before.invalidReason === null
        ? [createCount(scope, after, nowMs, 'invalid_traffic', invalidReason)]
        : []),
      ...(servedAtMs !== null && isNewlyServed(transition)
        ? [createCount(scope, after, servedAtMs, 'impressions')]
        : []),
      ...(isNewlySettled(transition)
        ? [createCount(scope, after, nowMs, `rewards_${rewardState}`, rewardReason ?? undefined)]
        : []),
    ];
  });
}

/**
 * Drafts webhook events for transitions.
 *
 * @param userRefs user references by decision
 */
export function draftEvents(
  transitions: readonly Transition[],
  userRefs: ReadonlyMap<string, string>,
): EventDraft[] {
  return transitions.flatMap((transition) => {
    const earnedReward = findEarnedReward(transition, userRefs);
    return [
      ...(isNewlyServed(transition) ? draftServedEvent(transition.after) : []),
      ...(earnedReward ? [draftRewardedEvent(transition.after, earnedReward)] : []),
    ];
  });
}

interface DueReward {
  reward: NonNullable<DecisionState['reward']>;
  userRef: string;
}

function findEarnedReward(
  { before, after }: Transition,
  userRefs: ReadonlyMap<string, string>,
): DueReward | undefined {
  const { reward } = after;
  const userRef = userRefs.get(after.id);
  const isNewlyEarned = after.rewardState === 'earned' && before.rewardState !== 'earned';
  return isNewlyEarned && reward !== null && userRef !== undefined
    ? { reward, userRef }
    : undefined;
}

function draftServedEvent(decision: DecisionState): EventDraft[] {
  const { creativeId, advertiserId } = decision;
  // Nothing is verified of an ad that was chosen in the page.
  if (creativeId === null || advertiserId === null) return [];
  const data = {
    decision_id: decision.id,
    placement: decision.placement,
    creative_id: creativeId,
    advertiser_id: advertiserId,
    source_id: decision.sourceId,
    ...(decision.userRef === null ? {} : { user_ref: decision.userRef }),
    viewable: true,
  };
  return [{ type: 'decision.served', data, viewer: decision.viewer }];
}

const draftRewardedEvent = (
  { id, placement, customData, userRef: storedUserRef, viewer, evidence }: DecisionState,
  { reward, userRef }: DueReward,
): EventDraft => ({
  type: 'decision.rewarded',
  data: {
    decision_id: id,
    placement,
    user_ref: userRef,
    reward,
    evidence: evidence ?? verified,
    ...(customData === null ? {} : { custom_data: customData }),
  },
  confidential: storedUserRef === null,
  viewer,
});

/** The report metric for each event type that is counted. */
const metrics: Partial<Record<RecordedEvent['type'], string>> = {
  impression: 'impressions_reported',
  viewable: 'viewable',
  start: 'starts',
  first_quartile: 'first_quartiles',
  midpoint: 'midpoints',
  third_quartile: 'third_quartiles',
  complete: 'completes',
  click: 'clicks',
  skip: 'skips',
  close: 'closes',
  error: 'errors',
};

/** Returns report counts for accepted events. */
export function countEvents(
  scope: Scope,
  acceptedEvents: RecordedEvent[],
  decisions: ReadonlyMap<string, DecisionState>,
): Count[] {
  return acceptedEvents.flatMap(({ decisionId, type, receivedAtMs }) => {
    const decision = decisions.get(decisionId);
    const metric = metrics[type];
    return decision && metric ? [createCount(scope, decision, receivedAtMs, metric)] : [];
  });
}

/** Returns report counts for invalid traffic. */
export function countInvalid(
  scope: Scope,
  events: RecordedEvent[],
  decisions: ReadonlyMap<string, DecisionState>,
): Count[] {
  return events.flatMap(({ decisionId, receivedAtMs }) => {
    const decision = decisions.get(decisionId);
    if (!decision) return [];
    const reason = decision.invalidReason ?? 'bot';
    return [createCount(scope, decision, receivedAtMs, 'invalid_traffic', reason)];
  });
}
