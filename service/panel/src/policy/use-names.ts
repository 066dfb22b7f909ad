import { useGetList } from 'react-admin';

const everything = { pagination: { page: 1, perPage: 1_000 } };

/** The name of an advertiser or a source, by its id; the id itself where it is not known. */
export function useNames(): (id: string) => string {
  const { data: advertisers = [] } = useGetList<{ id: string; name: string }>(
    'advertisers',
    everything,
  );
  const { data: sources = [] } = useGetList<{ id: string; name: string }>('sources', everything);
  const names = new Map([...advertisers, ...sources].map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}
