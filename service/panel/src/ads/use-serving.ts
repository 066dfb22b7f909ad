import type {
  Advertiser,
  Creative,
  HouseAd,
  KillSwitch,
  Placement,
  Source,
} from '@trueward/protocol/wire';
import { useGetList, useGetManyAggregate } from 'react-admin';
import { findPlacementProblem, findServingProblems, type ServingProblem } from './serving.ts';

/** The panel's lists return at most this many objects at once. */
const perPage = 100;

/** The objects of a kind with this state. All rows of a list share the request. Undefined if there are too many to tell. */
function useAll<T extends { id: string }>(
  resource: string,
  filter: Record<string, string>,
): readonly T[] | undefined {
  const { data, total = 0 } = useGetList<T>(
    resource,
    { filter, pagination: { page: 1, perPage }, sort: { field: 'id', order: 'ASC' } },
    { staleTime: 10_000 },
  );
  return total > perPage ? undefined : data;
}

/** The kill switches that are on. A kill switch refers to a placement by id or by name; here, always by name. */
function useKillSwitches(): readonly KillSwitch[] | undefined {
  const switches = useAll<KillSwitch>('kill-switches', { state: 'on' });
  const ids = (switches ?? []).flatMap(({ scope, target_id: id }) =>
    scope === 'placement' && id.startsWith('plc_') ? [id] : [],
  );
  const { data: placements = [] } = useGetManyAggregate<Placement>('placements', { ids });
  const names = new Map(placements.map(({ id, name }) => [id, name]));
  return switches?.map((item) => ({
    ...item,
    target_id: names.get(item.target_id) ?? item.target_id,
  }));
}

/** Returns why a house ad, as stored or as edited, isn't served although it is active. */
export function useServingProblems(houseAd: Partial<HouseAd>): ServingProblem[] {
  const { creative_id: creativeId } = houseAd;
  const { data: creatives } = useGetManyAggregate<Creative>('creatives', {
    ids: creativeId ? [creativeId] : [],
  });
  const creative = creatives?.[0];
  const { data: sources } = useGetManyAggregate<Source>('sources', {
    ids: creative ? [creative.source_id] : [],
  });
  const paused = useAll<Placement>('placements', { status: 'paused' });
  const killSwitches = useKillSwitches();
  const stopped = (killSwitches ?? []).flatMap(({ scope, target_id: id }) =>
    scope === 'advertiser' ? [id] : [],
  );
  const { data: advertisers } = useGetManyAggregate<Advertiser>('advertisers', {
    ids: creative && stopped.length > 0 ? [creative.advertiser_id, ...stopped] : [],
  });
  return findServingProblems({
    houseAd,
    creative,
    source: sources?.[0],
    placements: paused?.filter(({ name }) => houseAd.placements?.includes(name)),
    advertisers,
    killSwitches,
  });
}

/** Returns why a placement has no ads although it is active. */
export function usePlacementProblem(
  placement: Pick<Placement, 'name' | 'status'>,
): ServingProblem | undefined {
  const houseAds = useAll<HouseAd>('house-ads', { status: 'active' });
  const sources = useAll<Source>('sources', { status: 'active' });
  const killSwitches = useKillSwitches();
  return houseAds && sources && killSwitches
    ? findPlacementProblem(placement, houseAds, sources, killSwitches)
    : undefined;
}
