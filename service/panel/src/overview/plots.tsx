import { Box } from '@mui/material';
import type { Point } from './figures.ts';
import { Plot, type PlotLine } from './plot.tsx';

const counts: PlotLine[] = [
  { name: 'requests', label: 'Requests' },
  { name: 'filled', label: 'Filled' },
  { name: 'impressions', label: 'Verified impressions' },
];

const rates: PlotLine[] = [
  { name: 'fill', label: 'Fill' },
  { name: 'completion', label: 'Completion' },
  { name: 'reward', label: 'Rewards earned' },
];

/** What was counted over time, and the shares of it. */
export const Plots = ({ points, interval }: { points: Point[]; interval: 'hour' | 'day' }) => (
  <Box
    sx={{
      display: 'grid',
      gap: 2,
      gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'repeat(2, minmax(0, 1fr))' },
    }}
  >
    <Plot
      title="Requests and impressions"
      unit=""
      lines={counts}
      points={points}
      interval={interval}
    />
    <Plot title="Rates" unit=" %" lines={rates} points={points} interval={interval} />
  </Box>
);
