import { Box } from '@mui/material';
import { Plot, type PlotLine } from '../common/plot.tsx';
import { type Figures, isAd, type Point, type Subject } from './figures.ts';

const requestCounts: PlotLine<keyof Figures>[] = [
  { name: 'requests', label: 'Requests' },
  { name: 'filled', label: 'Filled' },
  { name: 'impressions', label: 'Verified impressions' },
];

const requestRates: PlotLine<keyof Figures>[] = [
  { name: 'fill', label: 'Fill rate' },
  { name: 'completion', label: 'Completion rate' },
  { name: 'reward', label: 'Approval rate' },
];

const adCounts: PlotLine<keyof Figures>[] = [
  { name: 'impressions', label: 'Verified impressions' },
  { name: 'completes', label: 'Completions' },
  { name: 'clicks', label: 'Clicks' },
];

const adRates: PlotLine<keyof Figures>[] = [
  { name: 'completion', label: 'Completion rate' },
  { name: 'click', label: 'Click rate' },
];

interface Props {
  subject: Subject | undefined;
  points: Point[];
  interval: 'hour' | 'day';
}

/** Counts and rates over time. */
export const Plots = ({ subject, points, interval }: Props) => (
  <Box
    sx={{
      display: 'grid',
      gap: 2,
      gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'repeat(2, minmax(0, 1fr))' },
    }}
  >
    <Plot
      title={isAd(subject) ? 'Impressions and clicks' : 'Requests and impressions'}
      unit=""
      lines={isAd(subject) ? adCounts : requestCounts}
      points={points}
      interval={interval}
    />
    <Plot
      title="Rates"
      unit="%"
      lines={isAd(subject) ? adRates : requestRates}
      points={points}
      interval={interval}
    />
  </Box>
);
