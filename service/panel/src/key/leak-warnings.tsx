import { Alert } from '@mui/material';
import { useQueries } from '@tanstack/react-query';
import type { ApiKey, AuditEntry } from '@trueward/protocol/wire';
import { useGetList } from 'react-admin';
import type { Page } from '../api/cursors.ts';
import { query } from '../api/resources.ts';
import { useCall } from '../api/use-call.ts';
import { TimeText } from '../shared/time-text.tsx';
import { isRevoked } from './key-state.ts';

/** Secret keys that still work although a web page has sent them. */
export function LeakWarnings() {
  const leaks = useLeaks();
  return leaks.map(({ key, entry }) => (
    <Alert key={key.id} severity="error" sx={{ marginTop: 2 }}>
      The secret key that ends with {key.last_four} has leaked: a page of{' '}
      {String(entry.after?.['origin'])} sent it, last on <TimeText time={entry.created_at} />. Roll
      it now.
    </Alert>
  ));
}

function useLeaks(): { key: ApiKey; entry: AuditEntry }[] {
  const call = useCall();
  const { data: keys = [] } = useGetList<ApiKey>('keys', {
    pagination: { page: 1, perPage: 1_000 },
  });
  const secretKeys = keys.filter((key) => key.kind === 'secret' && !isRevoked(key, Date.now()));
  const histories = useQueries({
    queries: secretKeys.map((key) => ({
      queryKey: ['leaks', key.id],
      queryFn: async () => {
        const path = query('/v1/audit-entries', { target_id: key.id, limit: 100 });
        const { body } = await call<Page<AuditEntry>>(path);
        return body.data.find(({ action }) => action === 'key.used_in_browser') ?? null;
      },
    })),
  });
  return secretKeys.flatMap((key, index) => {
    const entry = histories[index]?.data;
    return entry ? [{ key, entry }] : [];
  });
}
