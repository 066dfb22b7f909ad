import type { RecordedEvent } from '../decision/decision-state.ts';
import {
  checkGround,
  deny,
  keepPending,
  type RewardInput,
  type RewardVerdict,
} from './check-reward.ts';
import { deriveAdView, findFirst, overlaps } from './watch-time.ts';

/** A {@link RewardInput} without what only the service's own ads have. */
type PageRewardInput = Omit<RewardInput, 'decision'> & {
  decision: Pick<RewardInput['decision'], 'format' | 'reward' | 'simulate' | 'issuedAtMs'> & {
    evidence: string | null;
  };
  /** What the player's device has reported. */
  events: readonly RecordedEvent[];
  /** The call by the server of the network that has shown the ad. */
  callback: RecordedEvent | undefined;
};

/**
 * Decides whether an ad earns its reward that an ad SDK in the page has shown. The service sees nothing of such an ad, so
 * it takes the word of those that the decision names: the ad SDK's, or that of the network's server. Returns undefined if
 * nobody says that the ad was watched.
 */
export function checkPageReward(input: PageRewardInput): RewardVerdict | undefined {
  const { callback, decision, events } = input;
  const end = findFirst(events, 'complete') ?? callback;
  if (decision.format !== 'rewarded' || !end) return undefined;
  const ground = checkGround(input);
  if (ground) return ground;
  if (decision.evidence === 'source_attested' && !callback) return keepPending('awaiting_callback');
  if (input.servedAtMs === undefined) return keepPending('no_impression');
  if (input.capped)
    return input.isPlayerProven ? deny('frequency_capped') : keepPending('frequency_capped');
  const { issuedAtMs } = decision;
  const reported = events.length > 0 ? events : [end];
  const adView = deriveAdView({ issuedAtMs, requiredMs: 0 }, reported, end);
  if (overlaps(adView, input.otherAdViews)) return keepPending('overlapping_watch');
  return { state: 'earned', adView };
}
