import { Alert, Snackbar } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Connection, useConnection } from '../api/connection.ts';

const retryMs = 3_000;

const texts = {
  offline: 'You are offline. What you see may be out of date, and nothing can be changed.',
  unreachable: 'The service is not responding. What you see may be out of date. Retrying …',
};

/** Says on every page that the service cannot be reached, and reads everything again when it can. */
export function ConnectionBanner({ connection }: { connection: Connection }) {
  const state = useConnection(connection);
  const client = useQueryClient();
  useEffect(() => {
    if (state === 'connected') {
      // What failed meanwhile is read again; what is shown stays until the answer is here.
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
      // Apart from the messages about what somebody did, which stand at the bottom.
      anchorOrigin={{ vertical: 'top', horizontal: 'center' }}
      // Below the line that says which environment this is.
      sx={{ '&&': { top: { xs: 116, sm: 96 } } }}
    >
      <Alert severity="error" variant="filled">
        {state === 'connected' ? '' : texts[state]}
      </Alert>
    </Snackbar>
  );
}
