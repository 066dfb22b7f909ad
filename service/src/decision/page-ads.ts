import type { PageSource } from '../resource/resource.ts';
import { checkCaps, pageRewardLimits, paysPageAds } from './caps.ts';
import type { PageEvidence } from './decision-state.ts';
import {
  type DecideInput,
  type ExternalRejection,
  killedRejection,
  rejectByPolicy,
} from './decide.ts';
import { blocksContent, blocksSource, selectApplicable } from './match-policies.ts';
import { isKilled } from './kill-switches.ts';

/** An ad that an ad SDK in the player's page chooses and shows. */
export interface PageCandidate {
  pageSource: PageSource;
}

/** Returns who will say that an ad of this source was watched. */
export const evidenceOf = ({ callback }: Pick<PageSource, 'callback'>): PageEvidence =>
  callback === undefined ? 'client_attested' : 'source_attested';

/** Returns why a page source must not show its ad, or undefined if it may. */
export function rejectPageSource(
  { id, adapter, callback, child_directed: allowsChildren }: PageSource,
  { snapshot, entry, request, context, pageAdsAtMs, nowMs }: DecideInput,
): ExternalRejection | undefined {
  if (isKilled(snapshot, { sourceId: id }, nowMs)) return killedRejection;
  if (!request.page_adapters?.includes(adapter)) return { verdict: 'not_ready_in_page' };
  const { placement } = entry;
  // A placement's format may have been changed.
  if (placement.format === 'banner') return { verdict: 'refused: not for banner placements' };
  const rule = selectApplicable(entry.policies, context).find(
    (policy) => blocksSource(policy, id) || blocksContent(policy),
  );
  if (rule) return rejectByPolicy(rule);
  if (context.childDirected && !allowsChildren)
    return { verdict: 'refused: not for child-directed requests' };
  if (placement.format !== 'rewarded') return undefined;
  if (!paysPageAds(placement)) return { verdict: 'refused: page rewards are none' };
  if (placement.page_rewards === 'source_attested' && callback === undefined)
    return { verdict: 'refused: page rewards need a source with a callback' };
  // Nobody would know whose reward it is: a child's reference is in the decision's token only.
  if (context.childDirected && callback !== undefined)
    return { verdict: 'refused: a callback can’t name a child' };
  return checkCaps(pageRewardLimits(placement), pageAdsAtMs, nowMs) && { verdict: 'page_cap' };
}
