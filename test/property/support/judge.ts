import { readEvent } from '../../../service/src/reward/ingest-events.ts';
import { checkArrival } from '../../../service/src/reward/check-events.ts';
import type { DecisionState, RecordedEvent } from '../../../service/src/decision/decision-state.ts';
import { judgeDecisions } from '../../../service/src/reward/judge-decisions.ts';
import type { ViewerHistory } from '../../../service/src/reward/viewer-history.ts';
import { compileSnapshot } from '../../../service/src/decision/snapshot.ts';
import type { RewardVerdict } from '../../../service/src/reward/check-reward.ts';
import type { AdView } from '../../../service/src/reward/watch-time.ts';
import type { AdEvent } from '../../../protocol/wire.ts';

/** An ad that the player received. Times are in milliseconds since the Unix epoch. */
export interface ServedAd {
  id: string;
  issuedAtMs: number;
  requiredMs: number;
  mediaFormat: 'video' | 'image';
}

/** A request as it arrives at the service. */
export interface Arrival {
  receivedAtMs: number;
  /** According to the device's clock. */
  sentAtMs: number;
  events: (Pick<AdEvent, 'id' | 'type' | 'watched_ms' | 'visible'> & {
    adId: string;
    /** According to the device's clock. */
    occurredAtMs: number;
  })[];
}

/** The final state of an ad. */
export type JudgedAd = DecisionState;

const scope = { accountId: 'acc_1', environment: 'live' } as const;
const snapshot = compileSnapshot([]);
const dayMs = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Determines each ad's final state from the events that one player's devices report. Uses the service's own functions,
 * but keeps all data in memory.
 */
export function judgePlayer(ads: readonly ServedAd[], arrivals: readonly Arrival[]): JudgedAd[] {
  const decisions = new Map(ads.map((ad) => [ad.id, createDecision(ad)]));
  const evidence = new Map(ads.map(({ id }): [string, RecordedEvent[]] => [id, []]));
  const adViews: (AdView & { id: string })[] = [];
  const history: ViewerHistory = {
    otherAdViews: ({ id }) => adViews.filter((adView) => adView.id !== id),
    rewardTimesNear: () => [],
    add({ after, adView }) {
      if (adView) adViews.push({ ...adView, id: after.id });
    },
  };
  for (const arrival of arrivals.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)) {
    const rejectedCompletions = new Map<string, RewardVerdict>();
    const affected = new Set<string>();
    for (const event of arrival.events) {
      const decision = decisions.get(event.adId);
      if (!decision) continue;
      const recorded = record(event, arrival, decision);
      const code = checkArrival(recorded, decision, false);
      if (code === 'late' && event.type === 'complete')
        rejectedCompletions.set(event.adId, { state: 'expired', reason: 'late' });
      const previous = evidence.get(event.adId) ?? [];
      if (code === undefined && !previous.some(({ id }) => id === event.id))
        previous.push(recorded);
      affected.add(event.adId);
    }
    const context = {
      snapshot,
      nowMs: arrival.receivedAtMs,
      recordedEvents: evidence,
      history,
      rejectedCompletions,
    };
    const affectedDecisions = [...affected].toSorted().flatMap((id) => decisions.get(id) ?? []);
    for (const { after } of judgeDecisions(context, affectedDecisions))
      decisions.set(after.id, after);
  }
  return [...decisions.values()];
}

function record(
  { adId, occurredAtMs, ...event }: Arrival['events'][number],
  { sentAtMs, receivedAtMs }: Arrival,
  { issuedAtMs, expiresAtMs }: DecisionState,
): RecordedEvent {
  const claims = {
    ...scope,
    decisionId: adId,
    placement: 'p',
    creativeId: 'c',
    issuedAtMs,
    expiresAtMs,
  };
  const result = readEvent(
    { ...event, decision_id: adId, token: 't', occurred_at: iso(occurredAtMs) },
    { scope, sentAtMs, receivedAtMs, claims },
  );
  if ('code' in result) throw new Error(`Rejected: ${result.code}`);
  return result.event;
}

const createDecision = ({ id, issuedAtMs, requiredMs, mediaFormat }: ServedAd): DecisionState => ({
  id,
  placement: 'p',
  format: 'rewarded',
  mediaFormat,
  creativeId: 'c',
  advertiserId: 'a',
  sourceId: 's',
  houseAdId: 'h',
  userRef: 'u',
  viewer: 'v',
  customData: null,
  reward: { type: 'coins', amount: 1 },
  requiredMs,
  evidence: null,
  invalidReason: null,
  simulate: null,
  issuedAtMs,
  expiresAtMs: issuedAtMs + 600_000,
  lateAtMs: issuedAtMs + dayMs,
  servedAtMs: null,
  rewardState: 'none',
  rewardReason: null,
  settledAtMs: null,
});
