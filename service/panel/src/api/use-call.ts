import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { HttpError, useDataProvider, useNotify } from 'react-admin';
import type { Call, CallOptions } from './call.ts';
import type { PanelDataProvider } from './data-provider.ts';
import { messageOf } from './problem.ts';

/** Asks the service in the environment that is shown. */
export const useCall = (): Call => useDataProvider<PanelDataProvider>().call;

/** Reads one address, again and again where an interval in milliseconds is given; an absent one is not read. */
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

/** What was refused is refused again; only what failed by itself is tried once more. */
export const isWorthRetrying = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof HttpError && error.status < 500);

interface Action<T> {
  run(path: string, options?: CallOptions): void;
  isRunning: boolean;
  result: T | undefined;
}

interface ActionOptions<T> {
  /** What the user is told then. */
  done?: string;
  onDone?: (result: T) => void;
  /** Whether it changes something that is shown; by default it does. */
  changes?: boolean;
}

/**
 * Does something that is not just saving a form: tells the user how it went, and has everything that
 * is shown read again.
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
