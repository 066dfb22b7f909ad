import type { Policy } from '@trueward/protocol/wire';
import type { OfferRequest } from '../demand/index.ts';

/** Maximum length of a list that bidders receive. Ads from other blocked advertisers are rejected when they arrive. */
const maxBlockList = 1_000;

/** Returns what bidders must not offer, as far as the policies that apply to the request say so by name. */
export const buildBlockLists = (policies: readonly Policy[]): OfferRequest['blocked'] => ({
  advertisers: mergeLists(policies.map(({ block }) => block.domains)),
  categories: mergeLists(policies.map(({ block }) => block.categories)),
  seats: [],
  attributes: [],
});

function mergeLists(lists: readonly (readonly string[] | undefined)[]): string[] {
  const merged = new Set<string>();
  for (const list of lists)
    for (const item of list ?? []) {
      if (merged.size >= maxBlockList) return [...merged];
      merged.add(item);
    }
  return [...merged];
}
