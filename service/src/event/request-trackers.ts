import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import { truncateIp } from '../demand/disclose.ts';
import type { DemandRecord } from '../demand/offer.ts';
import {
  type Client,
  type NewRequest,
  readChosenAds,
  storeRequests,
} from '../demand/tracker-store.ts';
import { type DueTracker, dueTrackers, type Playback } from '../demand/trackers.ts';
import type { SecretBox } from '../key/secret-box.ts';
import { type Count, countOf } from '../report/rollup.ts';
import type { Queries, Scope } from '../store/database.ts';
import { isDecisionKilled } from './judge-decisions.ts';
import { isServed, type Transition } from './transitions.ts';

interface Facts {
  scope: Scope;
  snapshot: Snapshot;
  nowMs: number;
  /** The decisions of the events, locked, as they were before the transitions. */
  decisions: ReadonlyMap<string, DecisionState>;
  accepted: ReadonlySet<RecordedEvent>;
  /** All events of the decisions, including the accepted ones. */
  known: ReadonlyMap<string, readonly RecordedEvent[]>;
  transitions: readonly Transition[];
  /** Who sent the events of a decision. */
  clientOf(decisionId: string): Client | undefined;
}

type Chosen = NonNullable<DemandRecord['chosen']>;

/** The same decision before and after the events. */
interface Step {
  decision: DecisionState;
  chosen: Chosen;
  due: DueTracker[];
  isServed: boolean;
}

/**
 * Stores the tracker requests that became due with these events, in their transaction. Returns what to count, and
 * whether there is anything to request. Costs no statement unless an outside ad is among the decisions.
 */
export async function requestTrackers(
  queries: Queries,
  box: Pick<SecretBox, 'seal'>,
  facts: Facts,
): Promise<{ counts: Count[]; hasRequests: boolean }> {
  const { scope, decisions, nowMs } = facts;
  const outside = [...decisions.values()].filter(({ houseAdId }) => houseAdId === null);
  if (outside.length === 0) return { counts: [], hasRequests: false };
  const chosen = await readChosenAds(
    queries,
    scope.accountId,
    outside.map(({ id }) => id),
  );
  const steps = outside.flatMap((decision) => {
    const of = chosen.get(decision.id);
    return of ? [stepOf(facts, decision, of)] : [];
  });
  const counts = steps.flatMap((step) => countRevenue(facts, step));
  const requests: NewRequest[] = [];
  for (const step of steps) {
    const refusal = refusalOf(facts, step);
    if (refusal === undefined) requests.push(...requestsOf(box, facts, step));
    else if (step.due.length > 0) {
      const count = countOf(scope, step.decision, nowMs, refusal.metric, refusal.reason);
      counts.push({ ...count, times: step.due.length });
    }
  }
  await storeRequests(queries, scope, requests);
  return { counts, hasRequests: requests.length > 0 };
}

function stepOf(facts: Facts, before: DecisionState, chosen: Chosen): Step {
  const transition = facts.transitions.find(({ after }) => after.id === before.id);
  const decision = transition?.after ?? before;
  const events = facts.known.get(before.id) ?? [];
  const earlier = events.filter((event) => !facts.accepted.has(event));
  const due = dueTrackers(chosen, playbackOf(before, earlier), playbackOf(decision, events));
  return { decision, chosen, due, isServed: transition !== undefined && isServed(transition) };
}

const playbackOf = (
  { servedAtMs, issuedAtMs }: DecisionState,
  events: readonly RecordedEvent[],
): Playback => ({
  verified: servedAtMs !== null,
  types: new Set(events.map(({ type }) => type)),
  // Nobody can have watched for longer than the ad has existed.
  watchedMs: Math.max(
    0,
    ...events.map(({ watchedMs = 0, receivedAtMs }) =>
      Math.min(watchedMs, receivedAtMs - issuedAtMs),
    ),
  ),
});

/** Why the trackers are not requested, and how that is counted; undefined if they are. */
function refusalOf(
  { snapshot, nowMs }: Facts,
  { decision, chosen }: Step,
): { metric: string; reason?: string } | undefined {
  if (decision.invalidReason !== null)
    return { metric: 'trackers_failed', reason: 'invalid_traffic' };
  if (isDecisionKilled(snapshot, decision, nowMs))
    return { metric: 'trackers_failed', reason: 'killed' };
  return nowMs < chosen.trackUntilMs ? undefined : { metric: 'trackers_late' };
}

function requestsOf(
  box: Pick<SecretBox, 'seal'>,
  { nowMs, clientOf }: Facts,
  { decision: { id }, chosen, due }: Step,
): NewRequest[] {
  if (due.length === 0) return [];
  const expiresInMs = chosen.trackUntilMs - nowMs;
  const client = box.seal(JSON.stringify(disclosed(clientOf(id), chosen)));
  return due.map((tracker) => ({
    decisionId: id,
    tracker,
    expiresInMs,
    // Billing notices do not identify the player.
    client: tracker.atLeastOnce ? null : client,
  }));
}

const maxUserAgentLength = 512;

function disclosed({ ip, userAgent }: Client = {}, { limitAdTracking }: Chosen): Client {
  const shown = ip !== undefined && limitAdTracking ? truncateIp(ip) : ip;
  return {
    ...(shown !== undefined && { ip: shown }),
    ...(userAgent !== undefined && { userAgent: userAgent.slice(0, maxUserAgentLength) }),
  };
}

/** Maximum price: a million of any currency. A higher one is a mistake and would make sums overflow. */
const maxPriceMicros = 1e12;

/**
 * Counts the price per thousand, as it is stored; reports divide the sum, so that no fraction is lost. An invalid price
 * is skipped, because it must not fail the transaction, which rewards the player.
 */
function countRevenue({ scope }: Facts, { decision, chosen, isServed }: Step): Count[] {
  const { priceMicros: times, currency } = chosen;
  if (!isServed || !Number.isSafeInteger(times) || times <= 0 || times > maxPriceMicros) return [];
  const atMs = decision.servedAtMs ?? decision.issuedAtMs;
  return [{ ...countOf(scope, decision, atMs, 'cpm_micros', currency), times }];
}
