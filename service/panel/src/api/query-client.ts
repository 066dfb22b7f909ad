import { MutationCache, QueryClient, type QueryOptions } from '@tanstack/react-query';

/**
 * Creates what reads and changes the panel's data. It sends requests even if the browser reports that it is offline.
 * Otherwise, react-query would queue a change and send it when the browser reconnects, at an unpredictable time.
 *
 * A changed resource is read again: React-admin adds the response to the record that it has, in which a field that was
 * cleared would remain.
 */
export function createQueryClient(retry: NonNullable<QueryOptions['retry']>): QueryClient {
  const networkMode = 'always';
  const client = new QueryClient({
    defaultOptions: {
      queries: { networkMode, retry },
      mutations: { networkMode },
    },
    mutationCache: new MutationCache({
      onSettled(_data, error, _variables, _result, { options: { mutationKey } }) {
        if (!error && mutationKey)
          void client.invalidateQueries({ queryKey: mutationKey.slice(0, 1) });
      },
    }),
  });
  return client;
}
