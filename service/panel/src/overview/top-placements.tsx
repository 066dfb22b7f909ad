import {
  Box,
  LinearProgress,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material';
import type { ReportRow } from '@trueward/protocol/wire';
import { PanelCard } from '../common/page.tsx';
import { humanize } from '../common/status-chip.tsx';
import { groupRows, countNoAdReasons } from './figures.ts';

const maxItems = 10;

/** The placements with the most requests. */
export function TopPlacements({ rows }: { rows: readonly ReportRow[] }) {
  const placements = groupRows(rows, 'placement').slice(0, maxItems);
  return (
    <PanelCard title="Top placements">
      {placements.length === 0 ? (
        <Typography>No requests in this period.</Typography>
      ) : (
        <Box sx={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label="Top placements">
          <Table size="small">
            <TableHead>
              <TableRow>
                <TableCell>Placement</TableCell>
                <TableCell align="right">Requests</TableCell>
                <TableCell align="right">Fill rate</TableCell>
                <TableCell align="right">Impressions</TableCell>
                <TableCell align="right">Rewards</TableCell>
              </TableRow>
            </TableHead>
            <TableBody>
              {placements.map(({ name, requests, fill, impressions, rewards_earned: rewards }) => (
                <TableRow key={name}>
                  <TableCell>{name}</TableCell>
                  <TableCell align="right">{requests}</TableCell>
                  <TableCell align="right">{fill === undefined ? '–' : `${fill}%`}</TableCell>
                  <TableCell align="right">{impressions}</TableCell>
                  <TableCell align="right">{rewards}</TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </Box>
      )}
    </PanelCard>
  );
}

/** The reasons why ad requests were not filled, most frequent first. */
export function NoAdReasons({ rows }: { rows: readonly ReportRow[] }) {
  const reasons = countNoAdReasons(rows);
  const isEmpty = rows.every(({ requests }) => requests === 0);
  const maxCount = reasons[0]?.count ?? 1;
  return (
    <PanelCard title="No-fill reasons">
      {reasons.length === 0 && (
        <Typography>
          {isEmpty ? 'No requests in this period.' : 'Every request was filled.'}
        </Typography>
      )}
      <Box
        component="ul"
        sx={{ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: 1 }}
      >
        {reasons.map(({ reason, count }) => (
          <li key={reason}>
            <Box sx={{ display: 'flex', justifyContent: 'space-between' }}>
              <span>{humanize(reason)}</span>
              <span>{count}</span>
            </Box>
            <LinearProgress
              variant="determinate"
              value={(count / maxCount) * 100}
              aria-hidden="true"
            />
          </li>
        ))}
      </Box>
    </PanelCard>
  );
}
