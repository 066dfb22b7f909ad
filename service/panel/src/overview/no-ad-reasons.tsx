import { Box, LinearProgress, Typography } from '@mui/material';
import type { ReportRow } from '@trueward/protocol/wire';
import { PanelCard } from '../common/page.tsx';
import { describeAdReason } from '../common/reasons.ts';
import { countNoAdReasons } from '../figures/figures.ts';

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
              <span>{describeAdReason(reason).name}</span>
              <span>{count}</span>
            </Box>
            <LinearProgress
              variant="determinate"
              value={(count / maxCount) * 100}
              aria-hidden="true"
            />
            <Typography variant="body2" color="textSecondary">
              {describeAdReason(reason).text}
            </Typography>
          </li>
        ))}
      </Box>
    </PanelCard>
  );
}
