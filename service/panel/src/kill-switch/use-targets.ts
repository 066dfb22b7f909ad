import type { KillSwitch } from '@trueward/protocol/wire';
import { type RaRecord, useGetList, useGetManyAggregate } from 'react-admin';
import { type KillTarget, killTargets, type Scope } from './kill-targets.ts';

const perScope = 20;
const mostSwitches = 100;

interface Targets {
  targets: KillTarget[];
  /** How many there are that match, the ones that are not shown included. */
  total: number;
  isPending: boolean;
  error: Error | null | undefined;
}

interface Named extends RaRecord {
  id: string;
  name: string;
}

/** What can be stopped and matches a text: all that is stopped, and the first of everything else by name. */
export function useTargets(text: string): Targets {
  const placements = useFirst('placements', text);
  const advertisers = useFirst('advertisers', text);
  const sources = useFirst('sources', text);
  const on = useGetList<KillSwitch>('kill-switches', {
    filter: { state: 'on' },
    pagination: { page: 1, perPage: mostSwitches },
    sort: { field: 'updated_at', order: 'DESC' },
  });
  const switches = on.data ?? [];
  const stopped = {
    placement: useStopped('placements', 'placement', switches),
    advertiser: useStopped('advertisers', 'advertiser', switches),
    source: useStopped('sources', 'source', switches),
  };
  const lists = [placements, advertisers, sources];
  const targets = killTargets(
    {
      placement: [...stopped.placement, ...(placements.data ?? [])],
      advertiser: [...stopped.advertiser, ...(advertisers.data ?? [])],
      source: [...stopped.source, ...(sources.data ?? [])],
    },
    switches,
    Date.now(),
  ).filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return {
    targets,
    total: lists.reduce((sum, { total = 0 }) => sum + total, 0),
    isPending: [...lists, on].some(({ isPending }) => isPending),
    error: [...lists, on].find(({ error }) => error)?.error as Error | undefined,
  };
}

const useFirst = (resource: string, text: string) =>
  useGetList<Named>(
    resource,
    {
      filter: { q: text },
      pagination: { page: 1, perPage: perScope },
      sort: { field: 'name', order: 'ASC' },
    },
    { placeholderData: (before) => before },
  );

/** What the switches that are on name, whether or not it is among the first. */
function useStopped(resource: string, scope: Scope, switches: readonly KillSwitch[]): Named[] {
  const ids = switches
    .filter((each) => each.scope === scope)
    .map(({ target_id: id }) => id)
    // A placement can be named by its name too, which says enough.
    .filter((id) => scope !== 'placement' || id.startsWith('plc_'));
  const { data = [] } = useGetManyAggregate<Named>(resource, { ids });
  const named = switches
    .filter(
      (each) => scope === 'placement' && each.scope === scope && !ids.includes(each.target_id),
    )
    .map(({ target_id: name }) => ({ id: name, name }));
  return [...data.filter((each) => each !== undefined), ...named];
}
