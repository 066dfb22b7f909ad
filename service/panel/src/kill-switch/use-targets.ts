import type { KillSwitch } from '@trueward/protocol/wire';
import { type RaRecord, useGetList, useGetManyAggregate } from 'react-admin';
import type { Shown } from '../api/data-provider.ts';
import { type KillTarget, listKillTargets, type Scope } from './kill-targets.ts';

const maxPerScope = 20;
const maxSwitches = 100;

interface Targets {
  targets: KillTarget[];
  /** Number of matches, including those that are not shown. */
  total: number;
  isPending: boolean;
  error: Error | null | undefined;
}

interface NamedRecord extends RaRecord {
  id: string;
  name: string;
}

/**
 * Returns the targets that match a search text: all stopped targets, and the first few of the others, sorted by name.
 */
export function useTargets(text: string): Targets {
  const placements = useFirstPage('placements', text);
  const advertisers = useFirstPage('advertisers', text);
  const sources = useFirstPage('sources', text);
  const activeSwitches = useGetList<Shown<KillSwitch>>('kill-switches', {
    filter: { state: 'on' },
    pagination: { page: 1, perPage: maxSwitches },
    sort: { field: 'updated_at', order: 'DESC' },
  });
  const switches = activeSwitches.data ?? [];
  const stoppedTargets = {
    placement: useStoppedTargets('placements', 'placement', switches),
    advertiser: useStoppedTargets('advertisers', 'advertiser', switches),
    source: useStoppedTargets('sources', 'source', switches),
  };
  const lists = [placements, advertisers, sources];
  const targets = listKillTargets(
    {
      placement: [...stoppedTargets.placement, ...(placements.data ?? [])],
      advertiser: [...stoppedTargets.advertiser, ...(advertisers.data ?? [])],
      source: [...stoppedTargets.source, ...(sources.data ?? [])],
    },
    switches,
  ).filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return {
    targets,
    total: lists.reduce((sum, { total = 0 }) => sum + total, 0),
    isPending: [...lists, activeSwitches].some(({ isPending }) => isPending),
    error: [...lists, activeSwitches].find(({ error }) => error)?.error as Error | undefined,
  };
}

const useFirstPage = (resource: string, text: string) =>
  useGetList<NamedRecord>(
    resource,
    {
      filter: { q: text },
      pagination: { page: 1, perPage: maxPerScope },
      sort: { field: 'name', order: 'ASC' },
    },
    { placeholderData: (before) => before },
  );

/** Returns the targets of active kill switches, whether or not they are on the first page. */
function useStoppedTargets(
  resource: string,
  scope: Scope,
  switches: readonly KillSwitch[],
): NamedRecord[] {
  const ids = switches
    .filter((killSwitch) => killSwitch.scope === scope)
    .map(({ target_id: id }) => id)
    // A kill switch can refer to a placement by name, which needs no lookup.
    .filter((id) => scope !== 'placement' || id.startsWith('plc_'));
  const { data = [] } = useGetManyAggregate<NamedRecord>(resource, { ids });
  const targetsByName = switches
    .filter(
      (killSwitch) =>
        scope === 'placement' && killSwitch.scope === scope && !ids.includes(killSwitch.target_id),
    )
    .map(({ target_id: name }) => ({ id: name, name }));
  return [...data.filter((record) => record !== undefined), ...targetsByName];
}
