import { Box } from '@mui/material';
import type { Report } from '@trueward/protocol/wire';
import { type RaRecord, useListContext, useRecordContext, useResourceContext } from 'react-admin';
import { query } from '../api/resources.ts';
import { useRead } from '../api/use-call.ts';
import { dimensions, makeSubject, makeTimeRange, toPoints } from './figures.ts';

const width = 56;
const height = 16;

/** The impressions of the current row's object in the last seven days: their number, and a line of one point per day. */
export function RecentImpressions() {
  const resource = useResourceContext() ?? '';
  const { data: records = [] } = useListContext();
  const record = useRecordContext<RaRecord>();
  const range = makeTimeRange('week', Date.now());
  const dimension = dimensions[resource] ?? '';
  const values = records.map((each) => makeSubject(resource, each)?.value ?? '');
  // The path is the same for all rows, so that they share one request.
  const { data } = useRead<Report>(
    values.length === 0
      ? undefined
      : query('/v1/reports', {
          from: range.from.toISOString(),
          to: range.to.toISOString(),
          interval: 'day',
          group_by: dimension,
          [dimension]: values.toSorted().join(','),
        }),
    { refetchInterval: 60_000 },
  );
  if (!data || !record) return null;
  const value = makeSubject(resource, record)?.value;
  const rows = data.data.filter((row) => row[dimension as keyof typeof row] === value);
  const counts = toPoints(range.periods, rows).map(({ impressions }) => impressions);
  const sum = counts.reduce((total, count) => total + count, 0);
  if (sum === 0) return <>0</>;
  const max = Math.max(...counts);
  const points = counts.map(
    (count, index) =>
      `${(index / (counts.length - 1)) * width},${height - 1 - (count / max) * (height - 2)}`,
  );
  return (
    <Box sx={{ display: 'inline-flex', alignItems: 'center', gap: 1 }}>
      <svg width={width} height={height} aria-hidden="true">
        <polyline points={points.join(' ')} fill="none" stroke="currentColor" strokeWidth="1.5" />
      </svg>
      {sum.toLocaleString()}
    </Box>
  );
}
