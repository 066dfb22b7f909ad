import { Box, Card, Typography } from '@mui/material';
import { type Figures, isAd, type Subject } from './figures.ts';

interface TileSpec {
  name: keyof Figures;
  label: string;
  unit: '' | '%';
}

const impressions: TileSpec = { name: 'impressions', label: 'Verified impressions', unit: '' };
const completion: TileSpec = { name: 'completion', label: 'Completion rate', unit: '%' };
const clicks: TileSpec = { name: 'clicks', label: 'Clicks', unit: '' };
const rewards: TileSpec = { name: 'rewards_earned', label: 'Rewards earned', unit: '' };

/** For the environment and for placements, whose figures begin with the game's request. */
const requestTiles: readonly TileSpec[] = [
  { name: 'requests', label: 'Requests', unit: '' },
  { name: 'fill', label: 'Fill rate', unit: '%' },
  impressions,
  completion,
  clicks,
  rewards,
  { name: 'reward', label: 'Approval rate', unit: '%' },
];

/** For ads, whose figures begin when they are chosen. */
const adTiles: readonly TileSpec[] = [
  { name: 'filled', label: 'Times chosen', unit: '' },
  impressions,
  { name: 'completes', label: 'Completions', unit: '' },
  completion,
  clicks,
  { name: 'click', label: 'Click rate', unit: '%' },
  rewards,
];

const previousStyle = {
  display: 'block',
  fontSize: '0.875rem',
  fontWeight: 400,
  color: 'text.secondary',
};

const numberFormat = new Intl.NumberFormat();

interface Props {
  subject: Subject | undefined;
  current: Figures;
  previous: Figures | undefined;
  revenue: Revenue;
  previousRevenue: Revenue | undefined;
}

type Revenue = readonly { currency: string; micros: number }[];

/** The totals for the time range, and their change from the previous range. Revenue has one tile per currency. */
export const FigureTiles = ({ subject, current, previous, revenue, previousRevenue }: Props) => (
  <Box
    component="dl"
    sx={{
      margin: 0,
      display: 'grid',
      gap: 2,
      gridTemplateColumns: { xs: 'repeat(2, 1fr)', sm: 'repeat(3, 1fr)', lg: 'repeat(7, 1fr)' },
    }}
  >
    {(isAd(subject) ? adTiles : requestTiles).map(({ name, label, unit }) => (
      <Tile
        key={name}
        label={label}
        value={formatFigure(current[name], unit)}
        previous={
          previous &&
          `previous: ${formatFigure(previous[name], unit)}${formatChange(current[name], previous[name], unit)}`
        }
      />
    ))}
    {revenue.map(({ currency, micros }) => {
      const previousMicros = previousRevenue?.find((sum) => sum.currency === currency)?.micros ?? 0;
      return (
        <Tile
          key={currency}
          label={`Revenue (${currency})`}
          value={formatMoney(micros)}
          previous={
            previousRevenue &&
            `previous: ${formatMoney(previousMicros)}${formatChange(micros, previousMicros, '')}`
          }
        />
      );
    })}
  </Box>
);

interface TileProps {
  label: string;
  value: string;
  previous: string | undefined;
}

const Tile = ({ label, value, previous }: TileProps) => (
  <Card sx={{ padding: 2, display: 'flex', flexDirection: 'column' }}>
    <Typography component="dt" variant="body2" color="textSecondary">
      {label}
    </Typography>
    <Typography component="dd" sx={{ margin: 0, fontSize: '1.6rem', fontWeight: 600 }}>
      {value}
      {previous !== undefined && (
        <Box component="span" sx={previousStyle}>
          {previous}
        </Box>
      )}
    </Typography>
  </Card>
);

const formatMoney = (micros: number): string => (micros / 1_000_000).toFixed(2);

const formatFigure = (value: number | undefined, unit: string): string =>
  value === undefined ? '–' : `${numberFormat.format(value)}${unit}`;

/** Formats a change: ` (+12.0%)`, or in percentage points for a rate. */
function formatChange(
  current: number | undefined,
  previous: number | undefined,
  unit: string,
): string {
  if (current === undefined || previous === undefined || previous === 0) return '';
  const difference = unit === '' ? ((current - previous) / previous) * 100 : current - previous;
  const sign = difference > 0 ? '+' : '';
  return ` (${sign}${difference.toFixed(1)}${unit === '' ? '%' : ' points'})`;
}
