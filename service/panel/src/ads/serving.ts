import type {
  Advertiser,
  Creative,
  HouseAd,
  KillSwitch,
  Placement,
  Source,
} from '@trueward/protocol/wire';

/** What decides whether a house ad is served. Objects that aren't known yet are left out. */
export interface ServingFacts {
  houseAd: Partial<Pick<HouseAd, 'status' | 'placements' | 'phase'>>;
  creative?: Creative | undefined;
  source?: Source | undefined;
  /** The house ad's placements. */
  placements?: readonly Placement[] | undefined;
  /** The advertisers of the creative and of the kill switches. */
  advertisers?: readonly Advertiser[] | undefined;
  /** The kill switches that are on. */
  killSwitches?: readonly KillSwitch[] | undefined;
}

/** A problem: a word for lists, and a sentence with the remedy. */
export interface ServingProblem {
  state: string;
  text: string;
}

const reviews: Readonly<Record<string, string>> = {
  pending_review: 'Its creative is waiting for review. Approve it in the review queue.',
  rejected: 'Its creative was rejected. Change the creative, or choose another one.',
  suspended: 'Its creative is suspended. Approve it in the review queue, or choose another one.',
};

/** Returns why a house ad that is active isn't served. The list is empty if it is served or isn't active. */
export function findServingProblems(facts: ServingFacts): ServingProblem[] {
  const { houseAd, creative, source, placements = [], advertisers = [], killSwitches = [] } = facts;
  if (houseAd.status === 'paused' || (houseAd.phase ?? 'running') !== 'running') return [];
  const problems: ServingProblem[] = [];
  const review = creative?.review.status ?? 'approved';
  if (review !== 'approved') problems.push({ state: review, text: reviews[review] ?? '' });
  if (source?.status === 'paused')
    problems.push({
      state: 'source paused',
      text: `Its source, ${source.name}, is paused. Set the source’s status to active.`,
    });
  const domainOf = (id = '') => advertisers.find((advertiser) => advertiser.id === id)?.domain;
  const domain = domainOf(creative?.advertiser_id);
  // A kill switch for an advertiser stops all with its domain.
  const stopsAdvertiser = (id: string) => domain !== undefined && domainOf(id) === domain;
  for (const { scope, target_id: id, reason } of killSwitches)
    if ([creative?.advertiser_id, creative?.source_id].includes(id) || stopsAdvertiser(id))
      problems.push(describeStop(`its ${scope}`, reason));
  // On its other placements, it is still served.
  const stops = (houseAd.placements ?? []).map((name) => findStop(name, placements, killSwitches));
  const isServed = stops.includes(undefined);
  return isServed ? problems : [...problems, ...stops.filter((stop) => stop !== undefined)];
}

/** Returns why nothing is served on a placement. */
function findStop(
  name: string,
  placements: readonly Placement[],
  killSwitches: readonly KillSwitch[],
): ServingProblem | undefined {
  const stop = killSwitches.find(
    ({ scope, target_id: id }) => scope === 'placement' && id === name,
  );
  if (stop) return describeStop(`the placement ${name}`, stop.reason);
  const isPaused = placements.some((each) => each.name === name && each.status === 'paused');
  if (!isPaused) return undefined;
  return {
    state: 'placement paused',
    text: `The placement ${name} is paused. Set its status to active.`,
  };
}

const describeStop = (target: string, reason: string | undefined): ServingProblem => ({
  state: 'stopped',
  text: `A kill switch stops ${target}${reason === undefined ? '' : ` (${reason})`}. Resume it under Kill switches.`,
});

/**
 * Returns why an active placement has no ads. Undefined if it may have some.
 *
 * @param houseAds the active house ads
 * @param sources the active sources
 */
export function findPlacementProblem(
  { name, status }: Pick<Placement, 'name' | 'status'>,
  houseAds: readonly HouseAd[],
  sources: readonly Source[],
  killSwitches: readonly KillSwitch[],
): ServingProblem | undefined {
  if (status !== 'active') return undefined;
  if (killSwitches.some(({ scope, target_id: id }) => scope === 'placement' && id === name))
    return {
      state: 'stopped',
      text: 'A kill switch stops this placement. Resume it under Kill switches.',
    };
  const serves = ({ placements = [] }: { placements?: string[] }) => placements.includes(name);
  return houseAds.some(serves) || sources.some(serves)
    ? undefined
    : {
        state: 'no ads',
        text: 'No active house ad or source serves this placement. Create a house ad for it.',
      };
}
