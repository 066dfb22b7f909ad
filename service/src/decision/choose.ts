import type { Candidate } from './snapshot.ts';

/**
 * Chooses among candidates: the best priority, and within it by weight.
 *
 * @param candidates - by priority, as a snapshot has them
 * @param random - from 0 to below 1
 */
export function choose(candidates: readonly Candidate[], random: number): Candidate | undefined {
  const best = candidates[0]?.houseAd.priority;
  const rank = candidates.filter(({ houseAd }) => houseAd.priority === best);
  const total = rank.reduce((sum, { houseAd }) => sum + houseAd.weight, 0);
  let rest = random * total;
  return rank.find(({ houseAd }) => (rest -= houseAd.weight) < 0) ?? rank.at(-1);
}
