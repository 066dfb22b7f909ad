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
import { useState } from 'react';
import { useGetList } from 'react-admin';
import { Link as RouterLink, useNavigate, useSearchParams } from 'react-router';
import { Page, PanelCard } from '../common/page.tsx';
import { describeAdReason, describeRewardReason } from '../common/reasons.ts';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import { PlayerLink } from './player-link.tsx';
import { DecisionFilters, type DecisionFilter, readFilter } from './decision-filters.tsx';
import type { StoredDecision } from './stored-decision.ts';

/** Looks up a decision by id, and searches decisions by player, placement, state and time. */
export function DecisionList() {
  const [parameters, setParameters] = useSearchParams();
  const filter = readFilter(parameters);
  const key = JSON.stringify(filter);
  return (
    <Page
      title="Decisions"
      lead="Responses to ad requests and their outcomes. The list updates itself while your game runs."
    >
      <DecisionLookUp />
      <PanelCard title="Decisions">
        <DecisionFilters
          key={`filters ${key}`}
          filter={filter}
          onChange={(next) => setParameters(next as Record<string, string>)}
        />
        {filter.player !== undefined && (
          <Link component={RouterLink} to={`/players?ref=${encodeURIComponent(filter.player)}`}>
            Show this player’s wallet
          </Link>
        )}
        <Results key={key} filter={filter} />
      </PanelCard>
    </Page>
  );
}

function DecisionLookUp() {
  const navigate = useNavigate();
  const [id, setId] = useState('');
  return (
    <Box
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== '') void navigate(`/decisions/${encodeURIComponent(id.trim())}`);
      }}
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

const perPage = 25;
const refetchInterval = 2_000;

function Results({ filter }: { filter: DecisionFilter }) {
  const [page, setPage] = useState(1);
  const { data, pageInfo, error } = useGetList<StoredDecision>(
    'decisions',
    { filter, pagination: { page, perPage } },
    // Older pages don't change by themselves.
    { refetchInterval: page === 1 ? refetchInterval : false },
  );
  if (error) return <Typography color="error">{error.message}</Typography>;
  const hasNextPage = pageInfo?.hasNextPage === true;
  return (
    <>
      {data?.length === 0 && <Typography>{describeEmpty(filter, hasNextPage)}</Typography>}
      {data !== undefined && data.length > 0 && <DecisionTable decisions={data} />}
      <Box sx={{ display: 'flex', gap: 1 }}>
        <Button disabled={page === 1} onClick={() => setPage(page - 1)}>
          Newer
        </Button>
        <Button disabled={!hasNextPage} onClick={() => setPage(page + 1)}>
          Older
        </Button>
      </Box>
    </>
  );
}

function describeEmpty(filter: DecisionFilter, hasNextPage: boolean): string {
  if (hasNextPage) return 'None among the newest 50,000 decisions. Press “Older” to go on.';
  return Object.keys(filter).length === 0
    ? 'No ad requests yet.'
    : 'No decision matches. Decisions are kept for the retention period only.';
}

const DecisionTable = ({ decisions }: { decisions: readonly StoredDecision[] }) => (
  <Box sx={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label="Decisions">
    <Table size="small">
      <TableHead>
        <TableRow>
          <TableCell>Time</TableCell>
          <TableCell>Player</TableCell>
          <TableCell>Placement</TableCell>
          <TableCell>Outcome</TableCell>
          <TableCell>Reward</TableCell>
          <TableCell>Last event</TableCell>
          <TableCell>Decision</TableCell>
        </TableRow>
      </TableHead>
      <TableBody>
        {decisions.map((decision) => (
          <Row key={decision.id} decision={decision} />
        ))}
      </TableBody>
    </Table>
  </Box>
);

const oneLine = { whiteSpace: 'nowrap' };

/** A reason's name, with its sentence on hover. The decision's page shows the sentence. */
const ReasonName = ({ reason: { name, text } }: { reason: { name: string; text: string } }) => (
  <span title={text}>{name}</span>
);

const Row = ({ decision }: { decision: StoredDecision }) => (
  <TableRow>
    <TableCell sx={oneLine}>
      <TimeText time={decision.issued_at} />
    </TableCell>
    <TableCell>
      <PlayerLink player={decision.user_ref} />
    </TableCell>
    <TableCell>{decision.placement}</TableCell>
    <TableCell>
      {decision.status && <StatusChip status={decision.status} />}{' '}
      {decision.reason && <ReasonName reason={describeAdReason(decision.reason)} />}
    </TableCell>
    <TableCell>
      {decision.reward_state === undefined || decision.reward_state === 'none' ? (
        '–'
      ) : (
        <>
          <StatusChip status={decision.reward_state} />{' '}
          {decision.reward_reason && (
            <ReasonName reason={describeRewardReason(decision.reward_reason)} />
          )}
        </>
      )}
    </TableCell>
    <TableCell>{decision.last_event ? humanize(decision.last_event) : '–'}</TableCell>
    <TableCell sx={oneLine}>
      <Link component={RouterLink} to={`/decisions/${decision.id}`}>
        {decision.id}
      </Link>
    </TableCell>
  </TableRow>
);
