import { Alert, Snackbar } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Connection, useConnection } from '../api/connection.ts';

const retryMs = 3_000;

const texts = {
  offline: 'You are offline. This page may be out of date, and nothing can be changed.',
  unreachable: 'The service is not responding. This page may be out of date. Retrying…',
};

/**
 * Shows a banner on every page while the service is unreachable. Keeps refetching the page's data until the service is
 * reachable again.
 */
export function ConnectionBanner({ connection }: { connection: Connection }) {
  const state = useConnection(connection);
  const client = useQueryClient();
  useEffect(() => {
    if (state === 'connected') {
      // Refetch failed queries. Their previous data stays visible until the response arrives.
      void client.refetchQueries({
        type: 'active',
        predicate: ({ state: { error } }) => error !== null,
      });
      return undefined;
    }
    const timer = setInterval(() => void client.refetchQueries({ type: 'active' }), retryMs);
    return () => clearInterval(timer);
  }, [state, client]);
  return (
    <Snackbar
      open={state !== 'connected'}
      // The banner is at the top, because notifications about actions appear at the bottom.
      anchorOrigin={{ vertical: 'top', horizontal: 'center' }}
      // The banner is below the environment band.
      sx={{ '&&': { top: { xs: 116, sm: 96 } } }}
    >
      <Alert severity="error" variant="filled">
        {state === 'connected' ? '' : texts[state]}
      </Alert>
    </Snackbar>
  );
}
