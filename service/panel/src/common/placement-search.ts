import type { Placement } from '@trueward/protocol/wire';
import { useDeferredValue } from 'react';
import { useGetList } from 'react-admin';

/** The first placements by name that match a text. */
export function usePlacementSearch(text: string): Placement[] {
  const q = useDeferredValue(text);
  const { data = [] } = useGetList<Placement>(
    'placements',
    {
      filter: { q },
      pagination: { page: 1, perPage: 25 },
      sort: { field: 'name', order: 'ASC' },
    },
    { placeholderData: (before) => before },
  );
  return data;
}
