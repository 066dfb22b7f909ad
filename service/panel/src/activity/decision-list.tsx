import {
  Box,
  Button,
  Link,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  TextField,
  Typography,
} from '@mui/material';
import { type FormEvent, useState } from 'react';
import { useGetList } from 'react-admin';
import { Link as RouterLink, useNavigate } from 'react-router';
import { Page, PanelCard } from '../common/page.tsx';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import type { StoredDecision } from './stored-decision.ts';

/** Looks up a decision by id, and lists the most recent decisions. */
export const DecisionList = () => (
  <Page
    title="Decisions"
    lead="Responses to ad requests and their outcomes. The list updates itself while your game runs."
  >
    <DecisionLookUp />
    <PanelCard title="Newest decisions">
      <NewestDecisions />
    </PanelCard>
  </Page>
);

function DecisionLookUp() {
  const navigate = useNavigate();
  const [id, setId] = useState('');
  function open(event: FormEvent): void {
    event.preventDefault();
    if (id.trim() !== '') void navigate(`/decisions/${encodeURIComponent(id.trim())}`);
  }
  return (
    <Box
      component="form"
      onSubmit={open}
      sx={{ display: 'flex', gap: 1, maxWidth: 600, alignItems: 'center' }}
    >
      <TextField
        label="Decision ID"
        placeholder="dec_…"
        size="small"
        fullWidth
        value={id}
        onChange={({ target }) => setId(target.value)}
      />
      <Button type="submit" variant="contained">
        Open
      </Button>
    </Box>
  );
}

const refetchInterval = 2_000;

function NewestDecisions() {
  const { data, error } = useGetList<StoredDecision>(
    'decisions',
    { pagination: { page: 1, perPage: 25 } },
    { refetchInterval },
  );
  if (error) return <Typography color="error">{error.message}</Typography>;
  if (data?.length === 0) return <Typography>No ad requests yet.</Typography>;
  return (
    <Box sx={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label="Newest decisions">
      <Table size="small">
        <TableHead>
          <TableRow>
            <TableCell>Decision</TableCell>
            <TableCell>Placement</TableCell>
            <TableCell>Player</TableCell>
            <TableCell>Outcome</TableCell>
            <TableCell>Last event</TableCell>
            <TableCell>Reward</TableCell>
            <TableCell>Time</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {data?.map((decision) => (
            <Row key={decision.id} decision={decision} />
          ))}
        </TableBody>
      </Table>
    </Box>
  );
}

const Row = ({ decision }: { decision: StoredDecision }) => (
  <TableRow>
    <TableCell>
      <Link component={RouterLink} to={`/decisions/${decision.id}`}>
        {decision.id}
      </Link>
    </TableCell>
    <TableCell>{decision.placement}</TableCell>
    <TableCell>{decision.user_ref ?? '–'}</TableCell>
    <TableCell>
      {decision.status && <StatusChip status={decision.status} />}{' '}
      {decision.reason && humanize(decision.reason)}
    </TableCell>
    <TableCell>{decision.last_event ? humanize(decision.last_event) : '–'}</TableCell>
    <TableCell>
      {decision.reward_state === undefined || decision.reward_state === 'none' ? (
        '–'
      ) : (
        <StatusChip status={decision.reward_state} />
      )}
    </TableCell>
    <TableCell>
      <TimeText time={decision.issued_at} />
    </TableCell>
  </TableRow>
);
