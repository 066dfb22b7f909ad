import { Alert, Box, Button, Typography } from '@mui/material';
import type { Delivery, Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import { Loading, useGetList, useRecordContext } from 'react-admin';
import { words } from '../common/choices.ts';
import { ChoiceField } from '../common/choice-field.tsx';
import { PanelCard } from '../common/panel-card.tsx';
import { DeliveryDetails } from './delivery-details.tsx';

const perPage = 20;
const states = [{ id: '', name: 'all' }, ...words('delivered', 'pending', 'failed')];

/** What was sent to a webhook, newest first, with every attempt. */
export function Deliveries({ canRedeliver }: { canRedeliver: boolean }) {
  const webhook = useRecordContext<Webhook>();
  const [page, setPage] = useState(1);
  const [state, setState] = useState('');
  const { data, pageInfo, isPending, error, refetch } = useGetList<Delivery>(
    'deliveries',
    {
      filter: { webhook_id: webhook?.id, state },
      pagination: { page, perPage },
    },
    { enabled: webhook !== undefined, refetchInterval: 5_000 },
  );
  return (
    <PanelCard title="Deliveries">
      <Box sx={{ display: 'flex', gap: 1, marginBlock: 1, alignItems: 'center' }}>
        <ChoiceField
          label="State"
          choices={states}
          value={state}
          onChange={(chosen) => {
            setState(chosen);
            setPage(1);
          }}
        />
        <Button onClick={() => void refetch()}>Refresh</Button>
      </Box>
      {isPending && <Loading />}
      {error && <Alert severity="error">The deliveries could not be loaded. {error.message}</Alert>}
      {data?.length === 0 && <Typography>Nothing was sent.</Typography>}
      {data?.map((delivery) => (
        <DeliveryDetails key={delivery.id} delivery={delivery} canRedeliver={canRedeliver} />
      ))}
      <Box sx={{ display: 'flex', gap: 1 }}>
        <Button disabled={page === 1} onClick={() => setPage(page - 1)}>
          Newer
        </Button>
        <Button disabled={!pageInfo?.hasNextPage} onClick={() => setPage(page + 1)}>
          Older
        </Button>
      </Box>
    </PanelCard>
  );
}
