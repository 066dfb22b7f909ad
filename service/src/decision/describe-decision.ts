import type { Decision, DecisionRequest, Explanation, Reward } from '@trueward/protocol/wire';
import { withoutQuery } from '../demand/index.ts';
import { formatInstant } from '../platform/time.ts';
import type { Scope } from '../store/database.ts';
import type { Verdict } from './decide.ts';
import type { ExternalCandidate, ExternalFilled } from './external-ads.ts';
import { paysPageAds } from './caps.ts';
import { evidenceOf, type PageCandidate } from './page-ads.ts';
import type { DecisionRecord, NewDecision } from './record-decisions.ts';
import type { Ad, Candidate, PlacementEntry } from './snapshot.ts';
import type { TokenClaims } from './token.ts';

interface DecisionInput {
  id: string;
  scope: Scope;
  entry: PlacementEntry;
  request: DecisionRequest;
  viewer: string | undefined;
  verdict: Verdict | ExternalFilled;
  /** What the ad rules add to the response. */
  ruleAnswer?: Pick<Decision, 'next_ad_at' | 'ad_rules'>;
  bot: boolean;
  nowMs: number;
  sign(claims: TokenClaims): string;
}

/** How long an ad may be preloaded before it is shown. */
export const lifetimeMs = 600_000;

/** Turns a verdict into the response and the row to store. */
export function describeDecision(input: DecisionInput): {
  decision: Decision;
  newDecision: NewDecision;
} {
  const { verdict, scope, entry, id, nowMs } = input;
  const { placement } = entry;
  const expiresAtMs = Math.min(nowMs + lifetimeMs, findOfferExpiry(verdict));
  const record = describeRecord(input, expiresAtMs);
  const decision: Decision = {
    id,
    status: verdict.status,
    placement: placement.name,
    format: placement.format,
    issued_at: formatInstant(nowMs),
    expires_at: formatInstant(expiresAtMs),
  };
  Object.assign(decision, input.ruleAnswer);
  if (scope.environment === 'sandbox') decision.explain = verdict.explain.map(withoutSourceData);
  if (verdict.status === 'filled') {
    describeAd(decision, input, verdict.candidate, expiresAtMs);
    return { decision, newDecision: { scope, record } };
  }
  decision.reason = verdict.reason;
  if (verdict.retryAtMs !== undefined) decision.retry_at = formatInstant(verdict.retryAtMs);
  const { rule } = verdict;
  if (!rule) return { decision, newDecision: { scope, record } };
  const data = {
    decision_id: id,
    placement: placement.name,
    rule: { id: rule.id, kind: rule.kind, name: rule.name },
    ...(record.user_ref === null ? {} : { user_ref: record.user_ref }),
  };
  const event = { type: 'policy.blocked', data, viewer: record.viewer } as const;
  return { decision, newDecision: { scope, record, event } };
}

/** Whether a reason contains only words: no numbers, URLs or quoted text. */
const isPlain = (reason: string): boolean => /^[A-Za-z’ ,-]+\.?$/.test(reason);

/**
 * Removes reasons that may contain an external source's price, floor or URL, because these must not be disclosed to
 * clients. Operators see the full reason in the stored decision.
 */
function withoutSourceData(item: Explanation): Explanation {
  const [, outcome, reason = ''] = /^(source_error|refused): (.*)$/s.exec(item.verdict) ?? [];
  return outcome === undefined || isPlain(reason) ? item : { ...item, verdict: outcome };
}

const findOfferExpiry = (verdict: DecisionInput['verdict']): number =>
  verdict.status === 'filled' && 'offer' in verdict.candidate
    ? (verdict.candidate.offer.expiresAtMs ?? Infinity)
    : Infinity;

function describeAd(
  decision: Decision,
  { id, scope, entry: { placement }, request, nowMs, sign }: DecisionInput,
  candidate: Candidate | ExternalCandidate | PageCandidate,
  expiresAtMs: number,
): void {
  const creative = 'pageSource' in candidate ? undefined : candidate.creative;
  const claims: TokenClaims = {
    decisionId: id,
    accountId: scope.accountId,
    environment: scope.environment,
    placement: placement.name,
    creativeId: creative?.id ?? '',
    issuedAtMs: nowMs,
    expiresAtMs,
  };
  if (request.user_ref !== undefined) claims.userRef = request.user_ref;
  decision.creative = describeCreative(candidate);
  if (placement.format === 'rewarded') {
    if (creative) decision.min_watch_ms = computeMinWatchMs(placement.min_view_ms, creative.media);
    const reward = (creative ?? paysPageAds(placement)) && describeReward(placement, request);
    if (reward) decision.reward = reward;
  }
  if (creative && placement.format !== 'banner') decision.close_after_ms = placement.close_after_ms;
  decision.token = sign(claims);
}

function describeCreative(
  candidate: Candidate | ExternalCandidate | PageCandidate,
): NonNullable<Decision['creative']> {
  if ('pageSource' in candidate)
    return { media: { format: 'page', adapter: candidate.pageSource.adapter }, alt: '' };
  return 'offer' in candidate ? describeOffer(candidate) : candidate.clientCreative;
}

/** Describes an external ad's creative, including the values that can differ between offers. */
export function describeOffer({
  clientCreative,
  creative: { icons },
  advertiserName,
  offer,
}: Ad & Pick<ExternalCandidate, 'offer'>): NonNullable<Decision['creative']> {
  const { clickUrl, icon, skipAfterMs } = offer;
  const iconCopy = icons?.find(({ origin_url }) => icon && origin_url === withoutQuery(icon.url));
  return {
    advertiser: advertiserName,
    ...clientCreative,
    ...(clickUrl !== undefined && { click_url: clickUrl }),
    ...(skipAfterMs !== undefined && { skip_after_ms: skipAfterMs }),
    ...(iconCopy && {
      icon: {
        url: iconCopy.url,
        width: iconCopy.width,
        height: iconCopy.height,
        ...(icon?.altText !== undefined && { alt: icon.altText }),
        ...(icon?.clickThrough !== undefined && { click_url: icon.clickThrough }),
      },
    }),
  };
}

/**
 * Returns how long the player has to watch the ad: a video to its end, and other media for the placement's minimum
 * time.
 */
const computeMinWatchMs = (minViewMs: number, media: Candidate['creative']['media']): number =>
  media.format === 'video' ? media.duration_ms : minViewMs;

/** Returns the reward for an ad. A child has no wallet, because nothing about a child is stored for long. */
function describeReward(
  { reward }: PlacementEntry['placement'],
  { child_directed: childDirected }: DecisionRequest,
): Reward | undefined {
  return reward && childDirected === true ? { type: reward.type, amount: reward.amount } : reward;
}

function describeRecord(
  { id, verdict, scope, entry: { placement }, request, viewer, bot, nowMs }: DecisionInput,
  expiresAtMs: number,
): DecisionRecord {
  const candidate = verdict.status === 'filled' ? verdict.candidate : undefined;
  const houseAd = candidate && 'houseAd' in candidate ? candidate.houseAd : undefined;
  const pageSource = candidate && 'pageSource' in candidate ? candidate.pageSource : undefined;
  const creative = candidate && 'creative' in candidate ? candidate.creative : undefined;
  const isWatched = creative !== undefined && placement.format === 'rewarded';
  const isRewarded = isWatched || (pageSource !== undefined && paysPageAds(placement));
  return {
    id,
    status: verdict.status,
    reason: verdict.status === 'filled' ? null : verdict.reason,
    placement: placement.name,
    format: placement.format,
    creative_id: creative?.id ?? null,
    media_format: pageSource ? 'page' : (creative?.media.format ?? null),
    advertiser_id: creative?.advertiser_id ?? null,
    source_id: pageSource?.id ?? creative?.source_id ?? null,
    house_ad_id: houseAd?.id ?? null,
    // Bot impressions don't count toward the daily cap.
    reserved_ad: bot || houseAd?.daily_cap === undefined ? null : houseAd.id,
    reward: (isRewarded && describeReward(placement, request)) || null,
    required_ms: isWatched ? computeMinWatchMs(placement.min_view_ms, creative.media) : null,
    evidence: pageSource ? evidenceOf(pageSource) : null,
    invalid_reason: bot ? 'bot' : null,
    simulate: request.simulate ?? null,
    user_ref: request.child_directed === true ? null : (request.user_ref ?? null),
    viewer: viewer ?? null,
    child_directed: request.child_directed === true,
    custom_data: request.custom_data ?? null,
    explain: scope.environment === 'sandbox' || !candidate ? verdict.explain : null,
    issued_at: nowMs,
    expires_at: expiresAtMs,
    late_at: candidate ? nowMs + placement.late_window_s * 1_000 : null,
  };
}
