import { Box, Card, Typography } from '@mui/material';
import type { Figures } from './figures.ts';

const tiles: { name: keyof Figures; label: string; unit: string }[] = [
  { name: 'requests', label: 'Requests', unit: '' },
  { name: 'fill', label: 'Fill rate', unit: '%' },
  { name: 'impressions', label: 'Verified impressions', unit: '' },
  { name: 'completion', label: 'Completion rate', unit: '%' },
  { name: 'rewards_earned', label: 'Rewards earned', unit: '' },
  { name: 'reward', label: 'Approval rate', unit: '%' },
];

const previousStyle = {
  display: 'block',
  fontSize: '0.875rem',
  fontWeight: 400,
  color: 'text.secondary',
};

const number = new Intl.NumberFormat();

interface Props {
  now: Figures;
  before: Figures | undefined;
  revenue: Revenue;
  revenueBefore: Revenue | undefined;
}

type Revenue = readonly { currency: string; micros: number }[];

/** The totals for the time range and their change. Revenue has one tile per currency. */
export const FigureTiles = ({ now, before, revenue, revenueBefore }: Props) => (
  <Box
    component="dl"
    sx={{
      margin: 0,
      display: 'grid',
      gap: 2,
      gridTemplateColumns: { xs: 'repeat(2, 1fr)', sm: 'repeat(3, 1fr)', lg: 'repeat(6, 1fr)' },
    }}
  >
    {tiles.map(({ name, label, unit }) => (
      <Tile
        key={name}
        label={label}
        value={formatFigure(now[name], unit)}
        before={
          before &&
          `previous: ${formatFigure(before[name], unit)}${formatChange(now[name], before[name], unit)}`
        }
      />
    ))}
    {revenue.map(({ currency, micros }) => {
      const earlier = revenueBefore?.find((sum) => sum.currency === currency)?.micros ?? 0;
      return (
        <Tile
          key={currency}
          label={`Revenue (${currency})`}
          value={money(micros)}
          before={
            revenueBefore && `previous: ${money(earlier)}${formatChange(micros, earlier, '')}`
          }
        />
      );
    })}
  </Box>
);

interface TileProps {
  label: string;
  value: string;
  before: string | undefined;
}

const Tile = ({ label, value, before }: TileProps) => (
  <Card sx={{ padding: 2, display: 'flex', flexDirection: 'column' }}>
    <Typography component="dt" variant="body2" color="textSecondary">
      {label}
    </Typography>
    <Typography component="dd" sx={{ margin: 0, fontSize: '1.6rem', fontWeight: 600 }}>
      {value}
      {before !== undefined && (
        <Box component="span" sx={previousStyle}>
          {before}
        </Box>
      )}
    </Typography>
  </Card>
);

const money = (micros: number): string => (micros / 1_000_000).toFixed(2);

const formatFigure = (value: number | undefined, unit: string): string =>
  value === undefined ? '–' : `${number.format(value)}${unit}`;

/** Formats a change: ` (+12.0%)`, or in percentage points for a rate. */
function formatChange(now: number | undefined, before: number | undefined, unit: string): string {
  if (now === undefined || before === undefined || before === 0) return '';
  const difference = unit === '' ? ((now - before) / before) * 100 : now - before;
  const sign = difference > 0 ? '+' : '';
  return ` (${sign}${difference.toFixed(1)}${unit === '' ? '%' : ' points'})`;
}
