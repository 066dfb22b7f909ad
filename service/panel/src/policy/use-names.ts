import type { Policy } from '@trueward/protocol/wire';
import { useGetManyAggregate } from 'react-admin';

interface Named {
  id: string;
  name: string;
}

/** The names of the advertisers and sources that a policy blocks, by their ids; the id where there is none. */
export function useNames({ block }: Pick<Partial<Policy>, 'block'>): (id: string) => string {
  // Asked together with those of the other policies on the page.
  const advertisers = useGetManyAggregate<Named>('advertisers', { ids: block?.advertisers ?? [] });
  const sources = useGetManyAggregate<Named>('sources', { ids: block?.sources ?? [] });
  const named = [...(advertisers.data ?? []), ...(sources.data ?? [])];
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}
