import { Box, Table, TableBody, TableCell, TableHead, TableRow, useTheme } from '@mui/material';
import {
  CartesianGrid,
  Legend,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { PanelCard } from './page.tsx';

export interface PlotLine<Name extends string> {
  name: Name;
  label: string;
}

type PlotValues<Name extends string> = { [N in Name]?: number };

interface PlotProps<Name extends string> {
  title: string;
  unit: string;
  lines: readonly PlotLine<Name>[];
  /** `previous` contains the values for the comparison period, if any. */
  points: readonly (PlotValues<Name> & { period: string; previous?: PlotValues<Name> })[];
  interval: 'hour' | 'day';
}

/** Line colors that people with red-green color blindness can tell apart. */
const strokes = {
  light: ['#1f5fbf', '#1b6b3a', '#8a4b00'],
  dark: ['#8ab8ff', '#7fd6a0', '#ffc266'],
} as const;

/** A line chart, with the same data in a table below it. */
export function Plot<Name extends string>({
  title,
  unit,
  lines,
  points,
  interval,
}: PlotProps<Name>) {
  const { palette } = useTheme();
  const colors = strokes[palette.mode];
  const text = { fill: palette.text.secondary, fontSize: 12 };
  const hasComparison = points.some(({ previous }) => previous !== undefined);
  return (
    <PanelCard title={title}>
      {/* Screen readers use the table instead. */}
      <Box aria-hidden="true" sx={{ height: 260 }}>
        <ResponsiveContainer width="100%" height="100%">
          <LineChart
            data={[...points]}
            accessibilityLayer={false}
            margin={{ top: 8, left: -10, right: 10 }}
          >
            <CartesianGrid stroke={palette.divider} vertical={false} />
            <XAxis
              dataKey="period"
              tickFormatter={(value) => formatPeriod(value, interval)}
              tick={text}
            />
            <YAxis tick={text} unit={unit} allowDecimals={false} />
            <Tooltip
              labelFormatter={(value) => formatPeriod(value, interval)}
              contentStyle={{ backgroundColor: palette.background.paper, border: 'none' }}
            />
            <Legend itemSorter={null} />
            {lines.map(({ name, label }, index) => (
              <Line
                key={name}
                dataKey={name}
                name={label}
                unit={unit}
                stroke={colors[index] ?? colors[0]}
                strokeWidth={2}
                dot={{ r: 2 }}
                connectNulls
                isAnimationActive={false}
              />
            ))}
            {hasComparison &&
              lines.map(({ name, label }, index) => (
                <Line
                  key={`previous-${name}`}
                  dataKey={(point: PlotProps<Name>['points'][number]) => point.previous?.[name]}
                  name={`${label}, previous`}
                  unit={unit}
                  stroke={colors[index] ?? colors[0]}
                  strokeDasharray="4 4"
                  dot={{ r: 2 }}
                  connectNulls
                  isAnimationActive={false}
                />
              ))}
          </LineChart>
        </ResponsiveContainer>
      </Box>
      <PlotTable title={title} unit={unit} lines={lines} points={points} interval={interval} />
    </PanelCard>
  );
}

const formatPeriod = (value: unknown, interval: 'hour' | 'day'): string =>
  interval === 'hour' ? String(value).slice(11, 16) : String(value).slice(5, 10);

/** A plot's figures as a table. */
const PlotTable = <Name extends string>({
  title,
  unit,
  lines,
  points,
  interval,
}: PlotProps<Name>) => (
  <details>
    <summary>View as table</summary>
    <Box sx={{ maxHeight: 320, overflow: 'auto' }} tabIndex={0} role="group" aria-label={title}>
      <Table size="small" stickyHeader>
        <TableHead>
          <TableRow>
            <TableCell>{interval === 'hour' ? 'Hour (UTC)' : 'Day (UTC)'}</TableCell>
            {lines.map(({ name, label }) => (
              <TableCell key={name} align="right">
                {label}
              </TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {points.map((point) => (
            <TableRow key={point.period}>
              <TableCell>
                {point.period.slice(0, interval === 'hour' ? 16 : 10).replace('T', ' ')}
              </TableCell>
              {lines.map(({ name }) => (
                <TableCell key={name} align="right">
                  {point[name] === undefined ? '–' : `${point[name]}${unit}`}
                </TableCell>
              ))}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </Box>
  </details>
);
