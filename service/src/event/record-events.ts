import type { EventBatchResult, EventResult } from '@trueward/protocol/wire';
import {
  type DecisionState,
  type RecordedEvent,
  isEvidence,
  keyOf,
} from '../decision/decision-state.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import { addToRollups } from '../report/rollup.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { RewardVerdict } from '../reward/check-reward.ts';
import type { Receipts } from '../reward/receipt.ts';
import { describeReward } from '../reward/reward-status.ts';
import type { Database, Queries, Scope, TransactionOptions } from '../store/database.ts';
import { type Lane, retryLockTimeoutMs } from '../store/group-commit.ts';
import { type LaneParts, createScopedLanes } from '../store/lanes.ts';
import { checkArrival } from './check-events.ts';
import { countEvents, countInvalid } from './count-events.ts';
import {
  type Evidence as Reported,
  lockViewers,
  readDecisions,
  readEvidence,
} from './event-store.ts';
import { isDecisionKilled, judgeDecisions } from './judge-decisions.ts';
import { type Move, announceMoves, countMoves, moveDecisions } from './move-decisions.ts';
import { appendEvents } from './timeline.ts';
import { readHistory } from './viewer-history.ts';

/** The events of one request that have valid tokens. */
export interface Intake {
  scope: Scope;
  events: RecordedEvent[];
  /** By decision, from the tokens. */
  userRefs: ReadonlyMap<string, string>;
  /** The users whose rewards may be granted: those who completed an ad. */
  viewers: string[];
  /** Keys of the events sent by bots. */
  botEvents: ReadonlySet<string>;
}

interface Parts {
  database: Database;
  snapshot(scope: Scope): Snapshot;
  receipts: Receipts;
  writeEvents: WriteEvents;
  nowMs(): number;
  lanes: LaneParts;
  /** Called after the commit with the decisions whose state changed. */
  onChange(decisionIds: string[]): void;
  /** Called after the commit if webhooks are due. */
  onDeliveries(): void;
}

/** Maximum number of events per transaction: a device may send 500 at once, and others of its account wait for them. */
const maxEventsPerTransaction = 1_000;

/** Creates the group-commit lanes for events, one per account and environment. */
export function createEventLanes(parts: Parts): Lane<Intake, EventBatchResult> {
  return createScopedLanes(parts.lanes, {
    async commit(intakes, { isRetry }) {
      const [first, ...others] = intakes;
      if (!first) return [];
      const options = isRetry ? { lockTimeoutMs: retryLockTimeoutMs } : {};
      const answers = await record(parts, merge([first, ...others]), options);
      return intakes.map((intake) => answers.next(intake));
    },
    maxBatch: 100,
    weightOf: ({ events }) => events.length,
    maxWeight: maxEventsPerTransaction,
    gatherMs: parts.database.gatherMs,
  });
}

/** Merges requests of one account and environment. */
const merge = (group: [Intake, ...Intake[]]): Intake => ({
  scope: group[0].scope,
  events: group.flatMap(({ events }) => events),
  userRefs: new Map(group.flatMap(({ userRefs }) => [...userRefs])),
  viewers: [...new Set(group.flatMap(({ viewers }) => viewers))],
  botEvents: new Set(group.flatMap(({ botEvents }) => [...botEvents])),
});

/** Records merged requests. `next()` returns the response of each, in order. */
async function record(
  parts: Parts,
  merged: Intake,
  options: TransactionOptions,
): Promise<{ next(intake: Intake): EventBatchResult }> {
  const { answer, changed, toDeliver } = await attempt(parts, merged, options);
  if (changed.length > 0) parts.onChange(changed);
  if (toDeliver) parts.onDeliveries();
  const rewards = new Map(answer.decisions.map((reward) => [reward.id, reward]));
  let position = 0;
  return {
    next({ events }) {
      const ids = new Set(events.map(({ decisionId }) => decisionId));
      const results = answer.results.slice(position, (position += events.length));
      return { results, decisions: [...ids].flatMap((id) => rewards.get(id) ?? []) };
    },
  };
}

/** Retries with more users locked if it turns out that others are affected too. */
async function attempt(
  parts: Parts,
  intake: Intake,
  options: TransactionOptions,
): Promise<Recorded> {
  try {
    return await parts.database.transaction((queries) => recordIn(queries, parts, intake), {
      ...options,
      readsFirst: true,
      byIndex: true,
    });
  } catch (error) {
    if (!(error instanceof ViewersNotLockedError)) throw error;
    const viewers = [...intake.viewers, ...error.viewers];
    return attempt(parts, { ...intake, viewers }, options);
  }
}

interface Recorded {
  answer: EventBatchResult;
  /** Decisions whose state changed. */
  changed: string[];
  toDeliver: boolean;
}

async function recordIn(queries: Queries, parts: Parts, intake: Intake): Promise<Recorded> {
  const { scope, events, userRefs } = intake;
  const nowMs = parts.nowMs();
  const snapshot = parts.snapshot(scope);
  const { decisions, evidence } = await lockAndRead(queries, intake, nowMs);
  const codes = rejectionCodes(intake, decisions, snapshot, nowMs);
  const acceptable = events.filter((_, index) => codes[index] === undefined);
  const refused = refusedRewards(events, codes);
  const judged = affectedBy([...decisions.values()], acceptable, refused);
  const { known } = evidence;
  requireLocked(intake.viewers, judged, known);
  const { outcomes, written } = appendEvents(queries, scope.accountId, acceptable, evidence);
  const results = resultsOf(events, codes, outcomes);
  const accepted = events.filter((_, index) => results[index]?.status === 'accepted');
  for (const event of accepted) known.get(event.decisionId)?.push(event);

  const touched = affectedBy(judged, accepted, refused);
  const [moves] = await Promise.all([
    judge(queries, scope, touched, { evidence: known, snapshot, nowMs, refused }),
    written,
  ]);
  const invalid = events.filter((_, index) => codes[index] === 'invalid_traffic');
  const [toDeliver] = await Promise.all([
    parts.writeEvents(queries, scope, announceMoves(moves, userRefs)),
    moveDecisions(queries, scope.accountId, moves),
    addToRollups(queries, scope.accountId, [
      ...countMoves(scope, moves, nowMs),
      ...countEvents(scope, accepted, decisions),
      ...countInvalid(scope, invalid, decisions),
    ]),
  ]);

  for (const { after } of moves) decisions.set(after.id, after);
  const statuses = [...decisions.values()].map((decision) =>
    describeReward(parts.receipts, scope, decision, userRefs.get(decision.id)),
  );
  return {
    answer: { results, decisions: statuses },
    changed: moves.map(({ after }) => after.id),
    toDeliver,
  };
}

/** The decisions affected by these events or by rejected completions. */
function affectedBy(
  decisions: readonly DecisionState[],
  events: readonly RecordedEvent[],
  refused: ReadonlyMap<string, RewardVerdict>,
): DecisionState[] {
  const touched = new Set(events.filter(isEvidence).map(({ decisionId }) => decisionId));
  return decisions.filter(({ id }) => touched.has(id) || refused.has(id));
}

interface Evidence {
  evidence: ReadonlyMap<string, RecordedEvent[]>;
  snapshot: Snapshot;
  nowMs: number;
  refused: ReadonlyMap<string, RewardVerdict>;
}

/** Judges the affected decisions. */
async function judge(
  queries: Queries,
  scope: Scope,
  decisions: readonly DecisionState[],
  { evidence, snapshot, nowMs, refused }: Evidence,
): Promise<Move[]> {
  if (decisions.length === 0) return [];
  const history = await readHistory(queries, scope, snapshot, decisions, evidence);
  return judgeDecisions({ snapshot, nowMs, evidence, history, refused }, decisions);
}

/**
 * Locks the users who completed an ad and then the decisions of the events, and reads what is recorded. Only the holder
 * of a decision's lock appends to its events, so they are read once it is held. The statements are pipelined; the
 * server executes them in this order.
 */
async function lockAndRead(
  queries: Queries,
  { scope, events, viewers }: Intake,
  nowMs: number,
): Promise<{ decisions: Map<string, DecisionState>; evidence: Reported }> {
  const ids = [...new Set(events.map(({ decisionId }) => decisionId))];
  const [, decisions, evidence] = await Promise.all([
    lockViewers(queries, scope, viewers, nowMs),
    readDecisions(queries, scope, ids, { hold: true }),
    readEvidence(queries, scope.accountId, ids),
  ]);
  return { decisions: new Map(decisions.map((decision) => [decision.id, decision])), evidence };
}

/** The rejection code of each event; undefined for acceptable ones. */
function rejectionCodes(
  { events, botEvents }: Intake,
  decisions: ReadonlyMap<string, DecisionState>,
  snapshot: Snapshot,
  nowMs: number,
): EventResult['code'][] {
  const killed = new Set(
    [...decisions.values()]
      .filter((decision) => isDecisionKilled(snapshot, decision, nowMs))
      .map(({ id }) => id),
  );
  return events.map((event) => {
    const decision = decisions.get(event.decisionId);
    if (!decision) return 'decision_mismatch';
    if (botEvents.size > 0 && botEvents.has(keyOf(event))) return 'invalid_traffic';
    return checkArrival(event, decision, killed.has(decision.id));
  });
}

function resultsOf(
  events: RecordedEvent[],
  codes: EventResult['code'][],
  outcomes: ReturnType<typeof appendEvents>['outcomes'],
): EventResult[] {
  return events.map((event, index) => {
    const { id } = event;
    const code = codes[index];
    if (code !== undefined) return { id, status: 'rejected', code };
    const outcome = outcomes.get(event);
    if (outcome === 'too_many') return { id, status: 'rejected', code: 'invalid_event' };
    return { id, status: outcome === 'new' ? 'accepted' : 'duplicate' };
  });
}

/** The reward verdicts that follow from rejected completions. */
function refusedRewards(
  events: RecordedEvent[],
  codes: EventResult['code'][],
): Map<string, RewardVerdict> {
  const refused = new Map<string, RewardVerdict>();
  events.forEach(({ type, decisionId }, index) => {
    const code = codes[index];
    if (type !== 'complete') return;
    if (code === 'killed' || code === 'invalid_traffic')
      refused.set(decisionId, { state: 'denied', reason: code });
    if (code === 'late') refused.set(decisionId, { state: 'expired', reason: code });
  });
  return refused;
}

/** Users must be locked before their decisions. */
export class ViewersNotLockedError extends Error {
  readonly viewers: string[];
  constructor(viewers: string[]) {
    super(`${viewers.length} users must be locked first.`);
    this.viewers = viewers;
  }
}

/**
 * Rewards are granted only while their user is locked. Usually the completion arrives last, and its request names the
 * user; but an event that arrives after it may complete the evidence, too.
 *
 * @param viewers - the locked users
 * @throws ViewersNotLockedError
 */
export function requireLocked(
  viewers: readonly string[],
  judged: readonly DecisionState[],
  known: ReadonlyMap<string, readonly RecordedEvent[]>,
): void {
  const missing = judged.flatMap(({ id, viewer, rewardState }) => {
    const isOpen = rewardState === 'none' || rewardState === 'pending';
    const isCompleted = known.get(id)?.some(({ type }) => type === 'complete') === true;
    return viewer !== null && isOpen && isCompleted && !viewers.includes(viewer) ? viewer : [];
  });
  if (missing.length > 0) throw new ViewersNotLockedError([...new Set(missing)]);
}
