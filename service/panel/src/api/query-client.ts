import { QueryClient } from '@tanstack/react-query';
import { HttpError } from 'react-admin';

/** A request that was refused is refused again; only what failed by itself is tried once more. */
const isWorthRetrying = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof HttpError && error.status < 500);

/** What was read, for as long as one environment is shown. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({ defaultOptions: { queries: { retry: isWorthRetrying } } });
