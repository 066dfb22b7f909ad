import { Box, LinearProgress, Typography } from '@mui/material';
import type { ReportRow } from '@trueward/protocol/wire';
import { PanelCard } from '../common/panel-card.tsx';
import { inWords } from '../common/status-chip.tsx';
import { reasonsForNoAd } from './figures.ts';

/** Why players got no ad, the commonest reason first. */
export function NoAdReasons({ rows }: { rows: readonly ReportRow[] }) {
  const reasons = reasonsForNoAd(rows);
  const isEmpty = rows.every(({ requests }) => requests === 0);
  const most = reasons[0]?.count ?? 1;
  return (
    <PanelCard title="Reasons for no ad">
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
              <span>{inWords(reason)}</span>
              <span>{count}</span>
            </Box>
            <LinearProgress variant="determinate" value={(count / most) * 100} aria-hidden="true" />
          </li>
        ))}
      </Box>
    </PanelCard>
  );
}
