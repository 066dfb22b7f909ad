import { Alert } from '@mui/material';
import type { ApiKey } from '@trueward/protocol/wire';
import { useGetList } from 'react-admin';
import { TimeText } from '../common/time-text.tsx';
import { isRevoked } from './key-state.ts';

/** Secret keys that still work although a web page has sent them. */
export function LeakWarnings() {
  const { data: keys = [] } = useGetList<ApiKey>('keys', {
    pagination: { page: 1, perPage: 1_000 },
  });
  return keys
    .filter((key) => key.leaked_at !== undefined && !isRevoked(key, Date.now()))
    .map(({ id, last_four: lastFour, leaked_at: leakedAt, leaked_to: page }) => (
      <Alert key={id} severity="error" sx={{ marginTop: 2 }}>
        The secret key that ends with {lastFour} has leaked: a page of {page ?? 'another site'} sent
        it, last on <TimeText time={leakedAt} />. Roll it now.
      </Alert>
    ));
}
