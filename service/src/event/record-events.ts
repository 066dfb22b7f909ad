import type { EventBatchResult, EventResult } from '@trueward/protocol/wire';
import type { Snapshot } from '../decision/snapshot.ts';
import { addToRollups, type Count } from '../report/rollup.ts';
import { groupByScope, type Scope } from '../resource/scope.ts';
import type { RewardVerdict } from '../reward/check-reward.ts';
import type { Receipts } from '../reward/receipt.ts';
import type { Database, Queries } from '../store/database.ts';
import { createLane, type Lane } from '../store/group-commit.ts';
import type { WriteEvents } from '../webhook/event-writer.ts';
import { checkArrival } from './check-arrival.ts';
import { describeReward } from '../reward/describe-reward.ts';
import type { DecisionState } from './decision-state.ts';
import { insertEvents, lockDecisions, lockViewers } from './event-store.ts';
import { countOf, isDecisionKilled, judgeDecisions, type Judged } from './judge-decisions.ts';
import type { RecordedEvent } from './recorded-event.ts';

/** The events of one request whose tokens are good. */
export interface Intake {
  scope: Scope;
  events: RecordedEvent[];
  /** By decision, from the tokens. */
  userRefs: ReadonlyMap<string, string>;
  viewers: string[];
  /** Ids (`decision/event`) of those that a bot sent. */
  botEvents: ReadonlySet<string>;
}

interface Parts {
  database: Database;
  snapshot(scope: Scope): Snapshot;
  receipts: Receipts;
  writeEvents: WriteEvents;
  nowMs(): number;
  /** Called after the commit with the decisions whose reward or impression moved on. */
  onChange(scope: Scope, decisionIds: string[]): void;
}

/** How an event type is called in reports. */
const metrics: Record<RecordedEvent['type'], string> = {
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

/** The lane on which events are committed together. */
export function createEventLane(parts: Parts): Lane<Intake, EventBatchResult> {
  return createLane({
    async commit(intakes) {
      const results = new Map<Intake, EventBatchResult>();
      for (const group of groupByScope(intakes)) {
        const answers = await record(parts, merge(group));
        group.forEach((intake) => results.set(intake, answers.next(intake)));
      }
      return intakes.map((intake) => results.get(intake) ?? { results: [], decisions: [] });
    },
    maxBatch: 100,
  });
}

/** Requests of one account and environment as one. */
const merge = (group: [Intake, ...Intake[]]): Intake => ({
  scope: group[0].scope,
  events: group.flatMap(({ events }) => events),
  userRefs: new Map(group.flatMap(({ userRefs }) => [...userRefs])),
  viewers: [...new Set(group.flatMap(({ viewers }) => viewers))],
  botEvents: new Set(group.flatMap(({ botEvents }) => [...botEvents])),
});

/** Records, and hands back what each of the requests is answered, when asked in their order. */
async function record(
  parts: Parts,
  merged: Intake,
): Promise<{ next(intake: Intake): EventBatchResult }> {
  const { answer, changed } = await parts.database.transaction((queries) =>
    recordIn(queries, parts, merged),
  );
  if (changed.length > 0) parts.onChange(merged.scope, changed);
  let position = 0;
  return {
    next({ events }) {
      const ids = new Set(events.map(({ decisionId }) => decisionId));
      const results = answer.results.slice(position, (position += events.length));
      return { results, decisions: answer.decisions.filter(({ id }) => ids.has(id)) };
    },
  };
}

async function recordIn(
  queries: Queries,
  parts: Parts,
  { scope, events, userRefs, viewers, botEvents }: Intake,
): Promise<{ answer: EventBatchResult; changed: string[] }> {
  const nowMs = parts.nowMs();
  const snapshot = parts.snapshot(scope);
  await lockViewers(queries, scope, viewers, nowMs);
  const locked = await lockDecisions(queries, scope, [
    ...new Set(events.map(({ decisionId }) => decisionId)),
  ]);
  const decisions = new Map(locked.map((decision) => [decision.id, decision]));

  const codes = events.map((event): EventResult['code'] => {
    const decision = decisions.get(event.decisionId);
    if (!decision) return 'decision_mismatch';
    if (botEvents.has(`${event.decisionId}/${event.id}`)) return 'invalid_traffic';
    return checkArrival(event, decision, isDecisionKilled(snapshot, decision, nowMs));
  });
  const acceptable = events.filter((_, index) => codes[index] === undefined);
  const fresh = await insertEvents(queries, scope.accountId, acceptable);
  const results = resultsOf(events, codes, fresh);
  const accepted = events.filter((_, index) => results[index]?.status === 'accepted');

  const refused = refusedRewards(events, codes);
  const touched = new Set([
    ...accepted.filter(isEvidence).map(({ decisionId }) => decisionId),
    ...refused.keys(),
  ]);
  const judged = await judgeDecisions(
    { queries, scope, snapshot, receipts: parts.receipts, nowMs, userRefs, refused },
    locked.filter(({ id }) => touched.has(id)),
  );
  const invalid = events.filter((_, index) => codes[index] === 'invalid_traffic');
  await writeAlong(queries, parts, scope, judged, [
    ...countsOf(scope, accepted, decisions),
    ...countsOfInvalid(scope, invalid, decisions),
  ]);

  const after = new Map([
    ...decisions,
    ...judged.decisions.map((decision) => [decision.id, decision] as const),
  ]);
  const statuses = [...after.values()].map((decision) =>
    describeReward(parts.receipts, scope, decision, userRefs.get(decision.id)),
  );
  return {
    answer: { results, decisions: await Promise.all(statuses) },
    changed: judged.decisions
      .filter((decision) => decision !== decisions.get(decision.id))
      .map(({ id }) => id),
  };
}

function resultsOf(
  events: RecordedEvent[],
  codes: EventResult['code'][],
  fresh: Set<string>,
): EventResult[] {
  const left = new Set(fresh);
  return events.map(({ id, decisionId }, index) => {
    const code = codes[index];
    if (code !== undefined) return { id, status: 'rejected', code };
    // Of the same id twice in one request, the first is the new one.
    return { id, status: left.delete(`${decisionId}/${id}`) ? 'accepted' : 'duplicate' };
  });
}

/** What a completion that was refused means for its reward. */
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

/** The events by which impressions and rewards are judged. */
const isEvidence = ({ type }: RecordedEvent): boolean =>
  type === 'start' || type === 'impression' || type === 'viewable' || type === 'complete';

function countsOf(
  scope: Scope,
  accepted: RecordedEvent[],
  decisions: ReadonlyMap<string, DecisionState>,
): Count[] {
  return accepted.flatMap(({ decisionId, type, receivedAtMs }) => {
    const decision = decisions.get(decisionId);
    return decision ? [countOf(scope, decision, receivedAtMs, metrics[type])] : [];
  });
}

function countsOfInvalid(
  scope: Scope,
  events: RecordedEvent[],
  decisions: ReadonlyMap<string, DecisionState>,
): Count[] {
  return events.flatMap(({ decisionId, receivedAtMs }) => {
    const decision = decisions.get(decisionId);
    if (!decision) return [];
    const reason = decision.invalidReason ?? 'bot';
    return [countOf(scope, decision, receivedAtMs, 'invalid_traffic', reason)];
  });
}

async function writeAlong(
  queries: Queries,
  parts: Parts,
  scope: Scope,
  judged: Judged,
  counts: Count[],
): Promise<void> {
  await addToRollups(queries, scope.accountId, [...judged.counts, ...counts]);
  await parts.writeEvents(queries, scope, judged.events);
}
