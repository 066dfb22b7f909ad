import { Box, Table, TableBody, TableCell, TableHead, TableRow } from '@mui/material';
import type { PlotProps } from './plot.tsx';

/** The figures of a plot, to be read one by one. */
export const PlotTable = ({ title, unit, lines, points, interval }: PlotProps) => (
  <details>
    <summary>As a table</summary>
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
