import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';
import { isAdKilled } from '../decision/kill-switches.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import { maxUserAgentLength } from '../decision/user-agent.ts';
import {
  listNewlyDueTrackers,
  readChosenAds,
  storeRequests,
  truncateIp,
  type Client,
  type DemandRecord,
  type DueTracker,
  type NewRequest,
  type Playback,
} from '../demand/index.ts';
import type { SecretBox } from '../access/secret-box.ts';
import { type Count, createCount } from '../history/rollup.ts';
import type { Queries, Scope } from '../store/database.ts';
import { isNewlyServed, type Transition } from './transitions.ts';

interface TrackerInput {
  scope: Scope;
  snapshot: Snapshot;
  nowMs: number;
  /** The events' decisions, already locked, as they were before the transitions. */
  decisions: ReadonlyMap<string, DecisionState>;
  acceptedEvents: ReadonlySet<RecordedEvent>;
  /** All of the decisions' events, including those just accepted. */
  events: ReadonlyMap<string, readonly RecordedEvent[]>;
  transitions: readonly Transition[];
  /** Returns the client that sent a decision's events. */
  findClient(decisionId: string): Client | undefined;
}

type ChosenAd = NonNullable<DemandRecord['chosen']>;

/** How the events affect one decision with an external ad. */
interface EventEffect {
  /** The decision's state after the events. */
  decision: DecisionState;
  chosenAd: ChosenAd;
  dueTrackers: DueTracker[];
  isServed: boolean;
}

/**
 * Stores the tracker requests that these events trigger, in the same transaction as the events. Returns
 * report counts and whether requests were stored. Executes no statements if no decision has an external ad.
 */
export async function requestTrackers(
  queries: Queries,
  box: Pick<SecretBox, 'seal'>,
  input: TrackerInput,
): Promise<{ counts: Count[]; hasRequests: boolean }> {
  const { scope, decisions, nowMs } = input;
  const externalDecisions = [...decisions.values()].filter(
    ({ evidence, houseAdId }) => houseAdId === null && evidence === null,
  );
  if (externalDecisions.length === 0) return { counts: [], hasRequests: false };
  const chosenAds = await readChosenAds(
    queries,
    scope.accountId,
    externalDecisions.map(({ id }) => id),
  );
  const effects = externalDecisions.flatMap((decision) => {
    const chosenAd = chosenAds.get(decision.id);
    return chosenAd ? [computeEffect(input, decision, chosenAd)] : [];
  });
  const counts = effects.flatMap((effect) => countRevenue(input, effect));
  const requests: NewRequest[] = [];
  for (const effect of effects) {
    const rejection = findRejection(input, effect);
    if (rejection === undefined) requests.push(...buildRequests(box, input, effect));
    else if (effect.dueTrackers.length > 0) {
      const count = createCount(scope, effect.decision, nowMs, rejection.metric, rejection.reason);
      counts.push({ ...count, increment: effect.dueTrackers.length });
    }
  }
  await storeRequests(queries, scope, requests);
  return { counts, hasRequests: requests.length > 0 };
}

function computeEffect(
  input: TrackerInput,
  before: DecisionState,
  chosenAd: ChosenAd,
): EventEffect {
  const transition = input.transitions.find(({ after }) => after.id === before.id);
  const decision = transition?.after ?? before;
  const events = input.events.get(before.id) ?? [];
  const earlierEvents = events.filter((event) => !input.acceptedEvents.has(event));
  const dueTrackers = listNewlyDueTrackers(
    chosenAd,
    describePlayback(before, earlierEvents),
    describePlayback(decision, events),
  );
  return {
    decision,
    chosenAd,
    dueTrackers,
    isServed: transition !== undefined && isNewlyServed(transition),
  };
}

const describePlayback = (
  { servedAtMs, issuedAtMs }: DecisionState,
  events: readonly RecordedEvent[],
): Playback => ({
  verified: servedAtMs !== null,
  types: new Set(events.flatMap(({ type }) => (type === 'source_callback' ? [] : type))),
  // The ad can't have been watched for longer than the time since the decision.
  watchedMs: Math.max(
    0,
    ...events.map(({ watchedMs = 0, receivedAtMs }) =>
      Math.min(watchedMs, receivedAtMs - issuedAtMs),
    ),
  ),
});

/**
 * If the trackers must not be fired, returns the metric under which they are counted. Otherwise, returns undefined.
 */
function findRejection(
  { snapshot, nowMs }: TrackerInput,
  { decision, chosenAd }: EventEffect,
): { metric: string; reason?: string } | undefined {
  if (decision.invalidReason !== null)
    return { metric: 'trackers_failed', reason: 'invalid_traffic' };
  if (isAdKilled(snapshot, decision, nowMs)) return { metric: 'trackers_failed', reason: 'killed' };
  return nowMs < chosenAd.trackUntilMs ? undefined : { metric: 'trackers_late' };
}

function buildRequests(
  box: Pick<SecretBox, 'seal'>,
  { nowMs, findClient }: TrackerInput,
  { decision: { id }, chosenAd, dueTrackers }: EventEffect,
): NewRequest[] {
  if (dueTrackers.length === 0) return [];
  const client = box.seal(JSON.stringify(discloseClient(findClient(id), chosenAd)));
  return dueTrackers.map((tracker) => ({
    decisionId: id,
    tracker,
    dueAtMs: nowMs,
    lateAtMs: chosenAd.trackUntilMs,
    // Billing notices do not identify the player.
    client: tracker.atLeastOnce ? null : client,
  }));
}

function discloseClient({ ip, userAgent }: Client = {}, { limitAdTracking }: ChosenAd): Client {
  const disclosedIp = ip !== undefined && limitAdTracking ? truncateIp(ip) : ip;
  return {
    ...(disclosedIp !== undefined && { ip: disclosedIp }),
    ...(userAgent !== undefined && { userAgent: userAgent.slice(0, maxUserAgentLength) }),
  };
}

/** Maximum CPM: a million in any currency. A higher price is surely an error and could overflow the sums. */
const maxPriceMicros = 1e12;

/**
 * Adds up the full CPM (price per thousand impressions) of each impression. The sum is divided by a thousand only in
 * reports, so that no precision is lost. An invalid price is skipped, because the transaction also rewards the player
 * and must not fail.
 */
function countRevenue(
  { scope }: TrackerInput,
  { decision, chosenAd, isServed }: EventEffect,
): Count[] {
  const { priceMicros, currency } = chosenAd;
  const isValid =
    Number.isSafeInteger(priceMicros) && priceMicros > 0 && priceMicros <= maxPriceMicros;
  if (!isServed || !isValid) return [];
  const atMs = decision.servedAtMs ?? decision.issuedAtMs;
  return [
    { ...createCount(scope, decision, atMs, 'cpm_micros', currency), increment: priceMicros },
  ];
}
