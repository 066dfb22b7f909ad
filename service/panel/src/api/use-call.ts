import {
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { HttpError, useDataProvider, useNotify } from 'react-admin';
import type { ApiResponse, Call, CallOptions } from './call.ts';
import type { PanelDataProvider } from './data-provider.ts';
import { readCode, readMessage } from './problem.ts';

/** Returns the {@link Call} for the current environment. */
export const useCall = (): Call => useDataProvider<PanelDataProvider>().call;

/**
 * Fetches the data at an API path. Does nothing if the path is undefined.
 *
 * @param refetchInterval the interval in milliseconds; by default, the data is fetched only once
 */
export function useRead<T>(
  path: string | undefined,
  { refetchInterval = false }: { refetchInterval?: number | false } = {},
): UseQueryResult<T> {
  return useQuery({
    ...useResponse<T>(path),
    enabled: path !== undefined,
    refetchInterval,
    select: ({ body }) => body,
  });
}

/** Fetches the data at an API path with its `ETag`, for a change of what the page shows. */
export const useShown = <T>(path: string): ApiResponse<T> | undefined =>
  useQuery(useResponse<T>(path)).data;

/** Describes the request for an API path. Hooks that read the same path share the response. */
function useResponse<T>(path: string | undefined) {
  const call = useCall();
  return queryOptions({
    queryKey: ['read', path],
    queryFn: ({ signal }) => call<T>(path ?? '', { signal }),
  });
}

/** Whether to retry a request. Network and service failures are retried; rejected requests are not. */
export const shouldRetry = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof HttpError && error.status < 500);

interface Action<T> {
  run(path: string, options?: CallOptions): void;
  isRunning: boolean;
  result: T | undefined;
}

interface ActionOptions<T> {
  /** Notification to show on success. */
  successMessage?: string;
  onSuccess?: (result: T) => void;
  /** Whether to refetch all data on the page after the action (default true). */
  refetches?: boolean;
}

/** Runs an action other than saving a form, notifies the user of the result, and refetches the page's data. */
export function useAction<T>({
  successMessage,
  onSuccess,
  refetches = true,
}: ActionOptions<T>): Action<T> {
  const call = useCall();
  const notify = useNotify();
  const client = useQueryClient();
  const { mutate, isPending, data } = useMutation({
    mutationFn: async ({ path, options }: { path: string; options: CallOptions }) =>
      (await call<T>(path, { method: 'POST', ...options })).body,
    onError: (error) => {
      notify(readMessage(error), { type: 'error' });
      // The page shows what has changed meanwhile, so that the user can decide again.
      if (readCode(error) === 'precondition_failed') void client.invalidateQueries();
    },
    onSuccess: async (result) => {
      if (successMessage !== undefined) notify(successMessage, { type: 'success' });
      onSuccess?.(result);
      if (refetches) await client.invalidateQueries();
    },
  });
  return {
    run: (path, options = {}) => mutate({ path, options }),
    isRunning: isPending,
    result: data,
  };
}
