import { Box } from '@mui/material';
import { Plot, type PlotLine } from '../common/plot.tsx';
import type { Figures, Point } from './figures.ts';

const counts: PlotLine<keyof Figures>[] = [
  { name: 'requests', label: 'Requests' },
  { name: 'filled', label: 'Filled' },
  { name: 'impressions', label: 'Verified impressions' },
];

const rates: PlotLine<keyof Figures>[] = [
  { name: 'fill', label: 'Fill rate' },
  { name: 'completion', label: 'Completion rate' },
  { name: 'reward', label: 'Approval rate' },
];

/** Counts and rates over time. */
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
    <Plot title="Rates" unit="%" lines={rates} points={points} interval={interval} />
  </Box>
);
