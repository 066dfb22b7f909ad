import {
  Box,
  Button,
  Link,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material';
import { useState } from 'react';
import { useGetList } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import { describeAdReason, describeRewardReason } from '../common/reasons.ts';
import { WideContent } from '../common/page.tsx';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import type { DecisionFilter } from './decision-filters.tsx';
import { PlayerLink } from './player-link.tsx';
import type { StoredDecision } from './stored-decision.ts';

const perPage = 25;
const refetchInterval = 2_000;

interface Props {
  filter: DecisionFilter;
  /**
   * For one player: reasons are sentences, and the player is not repeated. Otherwise, reasons are names, with their
   * sentence on hover.
   */
  explains?: boolean;
}

/** The decisions that match, newest first, page by page. */
export function DecisionResults({ filter, explains = false }: Props) {
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
      {data !== undefined && data.length > 0 && (
        <DecisionTable decisions={data} explains={explains} />
      )}
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

interface TableProps {
  decisions: readonly StoredDecision[];
  explains: boolean;
}

const DecisionTable = ({ decisions, explains }: TableProps) => (
  <WideContent name="Decisions">
    <Table size="small">
      <TableHead>
        <TableRow>
          <TableCell>Time</TableCell>
          {!explains && <TableCell>Player</TableCell>}
          <TableCell>Placement</TableCell>
          <TableCell>Outcome</TableCell>
          <TableCell>Reward</TableCell>
          <TableCell>Last event</TableCell>
          <TableCell>Decision</TableCell>
        </TableRow>
      </TableHead>
      <TableBody>
        {decisions.map((decision) => (
          <Row key={decision.id} decision={decision} explains={explains} />
        ))}
      </TableBody>
    </Table>
  </WideContent>
);

const oneLine = { whiteSpace: 'nowrap' };
/** On a phone, what became of a request is worth more room than when it was made. */
const oneLineOnDesktop = { whiteSpace: { sm: 'nowrap' } };

interface ReasonProps {
  reason: { name: string; text: string };
  explains: boolean;
}

const ReasonText = ({ reason: { name, text }, explains }: ReasonProps) =>
  explains && text !== '' ? (
    <Typography variant="body2" color="textSecondary" sx={{ minWidth: 200 }}>
      {text}
    </Typography>
  ) : (
    <span title={text}>{name}</span>
  );

const Row = ({ decision, explains }: { decision: StoredDecision; explains: boolean }) => (
  <TableRow>
    <TableCell sx={oneLineOnDesktop}>
      <TimeText time={decision.issued_at} />
    </TableCell>
    {!explains && (
      <TableCell>
        <PlayerLink player={decision.user_ref} />
      </TableCell>
    )}
    <TableCell>{decision.placement}</TableCell>
    <TableCell>
      {decision.status && <StatusChip status={decision.status} />}{' '}
      {decision.reason && (
        <ReasonText reason={describeAdReason(decision.reason)} explains={explains} />
      )}
    </TableCell>
    <TableCell>
      {decision.reward_state === undefined || decision.reward_state === 'none' ? (
        '–'
      ) : (
        <>
          <StatusChip status={decision.reward_state} />{' '}
          {decision.reward_reason && (
            <ReasonText reason={describeRewardReason(decision.reward_reason)} explains={explains} />
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
