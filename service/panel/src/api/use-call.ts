import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { HttpError, useDataProvider, useNotify } from 'react-admin';
import type { Call, CallOptions } from './call.ts';
import type { PanelDataProvider } from './data-provider.ts';
import { messageOf } from './problem.ts';

/** Calls the service in the current environment. */
export const useCall = (): Call => useDataProvider<PanelDataProvider>().call;

/** Reads a path, repeatedly if an interval in milliseconds is given; does nothing if the path is undefined. */
export function useRead<T>(
  path: string | undefined,
  { refetchInterval = false }: { refetchInterval?: number | false } = {},
): UseQueryResult<T> {
  const call = useCall();
  return useQuery({
    queryKey: ['read', path],
    enabled: path !== undefined,
    refetchInterval,
    queryFn: async ({ signal }) => (await call<T>(path ?? '', { signal })).body,
  });
}

/** Retries failures of the network and the service, but not rejected requests. */
export const shouldRetry = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof HttpError && error.status < 500);

interface Action<T> {
  run(path: string, options?: CallOptions): void;
  isRunning: boolean;
  result: T | undefined;
}

interface ActionOptions<T> {
  /** The notification on success. */
  done?: string;
  onDone?: (result: T) => void;
  /** Whether to refetch everything on the page afterwards; by default true. */
  changes?: boolean;
}

/**
 * Runs an action other than saving a form: notifies the user of the result, and refetches everything on the
 * page.
 */
export function useAction<T>({ done, onDone, changes = true }: ActionOptions<T>): Action<T> {
  const call = useCall();
  const notify = useNotify();
  const client = useQueryClient();
  const { mutate, isPending, data } = useMutation({
    mutationFn: async ({ path, options }: { path: string; options: CallOptions }) =>
      (await call<T>(path, { method: 'POST', ...options })).body,
    onError: (error) => notify(messageOf(error), { type: 'error' }),
    onSuccess: async (result) => {
      if (done !== undefined) notify(done, { type: 'success' });
      onDone?.(result);
      if (changes) await client.invalidateQueries();
    },
  });
  return {
    run: (path, options = {}) => mutate({ path, options }),
    isRunning: isPending,
    result: data,
  };
}
