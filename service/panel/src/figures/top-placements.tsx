import { Box, Table, TableBody, TableCell, TableHead, TableRow, Typography } from '@mui/material';
import type { ReportRow } from '@trueward/protocol/wire';
import { PanelCard } from '../common/page.tsx';
import { groupRows } from './figures.ts';

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
          <Table size="small" sx={{ '& td, & th': { minWidth: 0, paddingInline: 1 } }}>
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
