import type { EventResult } from '@trueward/protocol/wire';
import {
  type DecisionState,
  type RecordedEvent,
  isCompletion,
  isEvidence,
  makeEventKey,
} from '../decision/decision-state.ts';
import { isAdKilled } from '../decision/kill-switches.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import type { SecretBox } from '../access/secret-box.ts';
import { addToRollups } from '../history/rollup.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { RewardVerdict } from './check-reward.ts';
import type { Receipts } from './receipt.ts';
import { describeReward } from './reward-status.ts';
import type { Database, Queries, Scope, TransactionOptions } from '../store/database.ts';
import { type Lane, retryLockTimeoutMs } from '../store/group-commit.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import { creditRewards } from '../wallet/credit-rewards.ts';
import { type LaneDeps, createScopedLanes } from '../store/lanes.ts';
import { checkArrival } from './check-events.ts';
import { findEarly } from './early-events.ts';
import {
  type EventBatch,
  mergeBatches,
  type RecordResponse,
  splitResponse,
} from './event-batch.ts';
import { requireLockedViewers, ViewersNotLockedError } from './viewer-locks.ts';
import {
  countEvents,
  countInvalid,
  type Transition,
  draftEvents,
  countTransitions,
  listEarned,
  writeTransitions,
} from './transitions.ts';
import { readDecisions, readEvents } from './read-decisions.ts';
import { withArchivedPlacements } from './archived-placements.ts';
import { judgeDecisions } from './judge-decisions.ts';
import { requestTrackers } from './request-trackers.ts';
import { appendEvents } from './timeline.ts';
import { readHistory } from './viewer-history.ts';

interface Deps {
  database: Database;
  snapshot(scope: Scope): Snapshot;
  receipts: Receipts;
  writeEvents: WriteEvents;
  box: Pick<SecretBox, 'seal'>;
  nowMs(): number;
  lanes: LaneDeps;
  /** Called after the commit with the decisions that changed. */
  onChange(decisionIds: string[]): void;
  /** Called after the commit if webhook deliveries were queued. */
  onDeliveries(): void;
  /** Called after the commit if tracker requests were stored. */
  onTrackers(accountId: string): void;
}

/**
 * Maximum number of events per transaction. Must be at least 500, because a single request can contain that many. A
 * larger transaction would block the account's other devices for longer.
 */
const maxEventsPerBatch = 1_000;

/** Creates lanes, each of which group-commits events for one account and environment. */
export function createEventLanes(deps: Deps): Lane<EventBatch, RecordResponse> {
  return createScopedLanes(deps.lanes, {
    async commit(batches, { isRetry }) {
      const [first, ...others] = batches;
      if (!first) return [];
      const options = isRetry ? { lockTimeoutMs: retryLockTimeoutMs } : {};
      const batch = mergeBatches([first, ...others]);
      const { response, changedIds, hasDeliveries, hasRequests } = await recordWithRetry(
        deps,
        batch,
        options,
      );
      if (changedIds.length > 0) deps.onChange(changedIds);
      if (hasDeliveries) deps.onDeliveries();
      if (hasRequests) deps.onTrackers(batch.scope.accountId);
      return splitResponse(response, batches);
    },
    maxBatch: 100,
    measureWeight: ({ events }) => events.length,
    maxWeight: maxEventsPerBatch,
    gatherMs: deps.database.gatherMs,
  });
}

/** Records the events. If more players must be locked, starts over in a new transaction that locks them first. */
async function recordWithRetry(
  deps: Deps,
  batch: EventBatch,
  options: TransactionOptions,
): Promise<RecordResult> {
  try {
    return await deps.database.transaction((queries) => recordInTransaction(queries, deps, batch), {
      ...options,
      hasLeadingReads: true,
      preferIndexes: true,
    });
  } catch (error) {
    if (!(error instanceof ViewersNotLockedError)) throw error;
    const viewers = [...batch.viewers, ...error.viewers];
    return recordWithRetry(deps, { ...batch, viewers }, options);
  }
}

interface RecordResult {
  response: RecordResponse;
  /** Ids of changed decisions. */
  changedIds: string[];
  hasDeliveries: boolean;
  /** Whether tracker requests were stored. */
  hasRequests: boolean;
}

async function recordInTransaction(
  queries: Queries,
  deps: Deps,
  batch: EventBatch,
): Promise<RecordResult> {
  const { scope, events, userRefs } = batch;
  const nowMs = deps.nowMs();
  const { decisions, recordedEvents } = await lockAndRead(queries, batch, nowMs);
  const current = deps.snapshot(scope);
  const snapshot = await withArchivedPlacements(queries, scope, current, decisions.values());
  const codes = findRejectionCodes(batch, decisions, snapshot, nowMs);
  const earlyEvents = findEarly(batch, decisions, recordedEvents);
  const acceptableEvents = events.filter(
    (event, index) => codes[index] === undefined && !earlyEvents.has(event),
  );
  const rejectedCompletions = collectRejectedCompletions(events, codes);
  const candidates = selectAffected([...decisions.values()], acceptableEvents, rejectedCompletions);
  requireLockedViewers(batch.viewers, candidates, recordedEvents);
  const { outcomes, written } = appendEvents(
    queries,
    scope.accountId,
    acceptableEvents,
    recordedEvents,
  );
  const results = buildResults(events, codes, outcomes);
  const acceptedEvents = events.filter((event) => outcomes.get(event) === 'new');

  const affectedDecisions = selectAffected(candidates, acceptedEvents, rejectedCompletions);
  const [transitions] = await Promise.all([
    judge(queries, scope, affectedDecisions, {
      recordedEvents,
      snapshot,
      nowMs,
      rejectedCompletions,
    }),
    written,
  ]);
  const invalidEvents = events.filter((_, index) => codes[index] === 'invalid_traffic');
  const trackerResult = await requestTrackers(queries, deps.box, {
    scope,
    snapshot,
    nowMs,
    decisions,
    acceptedEvents: new Set(acceptedEvents),
    events: recordedEvents,
    transitions,
    findClient: batch.findClient,
  });
  const stored = await Promise.all([
    deps.writeEvents(queries, scope, draftEvents(transitions, userRefs)),
    writeTransitions(queries, scope, transitions),
    creditRewards(queries, deps.writeEvents, scope, listEarned(transitions, userRefs), nowMs),
    addToRollups(queries, scope.accountId, [
      ...countTransitions(scope, transitions, nowMs),
      ...countEvents(scope, acceptedEvents, decisions),
      ...countInvalid(scope, invalidEvents, decisions),
      ...trackerResult.counts,
    ]),
  ]);

  for (const { after } of transitions) decisions.set(after.id, after);
  const statuses = [...decisions.values()].map((decision) =>
    describeReward(deps.receipts, scope, decision, userRefs.get(decision.id)),
  );
  return {
    response: {
      results: events.map(
        (event, index) => earlyEvents.get(event) ?? (results[index] as EventResult),
      ),
      decisions: statuses,
    },
    changedIds: transitions.map(({ after }) => after.id),
    hasDeliveries: stored.includes(true),
    hasRequests: trackerResult.hasRequests,
  };
}

/** Returns the decisions affected by these events or by rejected completions. */
function selectAffected(
  decisions: readonly DecisionState[],
  events: readonly RecordedEvent[],
  rejectedCompletions: ReadonlyMap<string, RewardVerdict>,
): DecisionState[] {
  const affectedIds = new Set(events.filter(isEvidence).map(({ decisionId }) => decisionId));
  return decisions.filter(({ id }) => affectedIds.has(id) || rejectedCompletions.has(id));
}

interface JudgeInput {
  recordedEvents: ReadonlyMap<string, RecordedEvent[]>;
  snapshot: Snapshot;
  nowMs: number;
  rejectedCompletions: ReadonlyMap<string, RewardVerdict>;
}

/** Judges the affected decisions. */
async function judge(
  queries: Queries,
  scope: Scope,
  decisions: readonly DecisionState[],
  { recordedEvents, snapshot, nowMs, rejectedCompletions }: JudgeInput,
): Promise<Transition[]> {
  if (decisions.length === 0) return [];
  const history = await readHistory(queries, scope, snapshot, decisions, recordedEvents);
  return judgeDecisions(
    { snapshot, nowMs, recordedEvents, history, rejectedCompletions },
    decisions,
  );
}

/**
 * Locks the players who completed an ad, then the events' decisions, and then reads the recorded events. Events are
 * appended to a decision only while it is locked, so reading after locking returns all of them. The statements are
 * pipelined, and the server executes them in this order.
 */
async function lockAndRead(
  queries: Queries,
  { scope, events, viewers }: EventBatch,
  nowMs: number,
): Promise<{
  decisions: Map<string, DecisionState>;
  recordedEvents: Map<string, RecordedEvent[]>;
}> {
  const ids = [...new Set(events.map(({ decisionId }) => decisionId))];
  const [, decisions, recordedEvents] = await Promise.all([
    lockViewers(queries, scope, viewers, nowMs),
    readDecisions(queries, scope, ids, { lock: true }),
    readEvents(queries, scope.accountId, ids),
  ]);
  return {
    decisions: new Map(decisions.map((decision) => [decision.id, decision])),
    recordedEvents,
  };
}

/** Returns why each event is rejected, or undefined for an accepted event. */
function findRejectionCodes(
  { events, botEvents }: EventBatch,
  decisions: ReadonlyMap<string, DecisionState>,
  snapshot: Snapshot,
  nowMs: number,
): EventResult['code'][] {
  const killedIds = new Set(
    [...decisions.values()]
      .filter((decision) => isAdKilled(snapshot, decision, nowMs))
      .map(({ id }) => id),
  );
  return events.map((event) => {
    const decision = decisions.get(event.decisionId);
    if (!decision) return 'decision_mismatch';
    if (botEvents.size > 0 && botEvents.has(makeEventKey(event))) return 'invalid_traffic';
    return checkArrival(event, decision, killedIds.has(decision.id));
  });
}

function buildResults(
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

/** Returns the reward verdicts that result from rejected completions, by decision. */
function collectRejectedCompletions(
  events: RecordedEvent[],
  codes: EventResult['code'][],
): Map<string, RewardVerdict> {
  const rejectedCompletions = new Map<string, RewardVerdict>();
  events.forEach((event, index) => {
    const [code, { decisionId }] = [codes[index], event];
    if (!isCompletion(event)) return;
    if (code === 'killed' || code === 'invalid_traffic')
      rejectedCompletions.set(decisionId, { state: 'denied', reason: code });
    if (code === 'late') rejectedCompletions.set(decisionId, { state: 'expired', reason: code });
  });
  return rejectedCompletions;
}
