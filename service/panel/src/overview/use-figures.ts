import { useQuery } from '@tanstack/react-query';
import type { Report, ReportRow } from '@trueward/protocol/wire';
import { query } from '../api/resources.ts';
import { useCall } from '../api/use-call.ts';
import {
  type Figures,
  type Point,
  sumRows,
  toPoints,
  type RangeName,
  type TimeRange,
  makeTimeRange,
} from './figures.ts';

interface OverviewFigures {
  range: TimeRange;
  /** One row per period and placement. */
  rows: ReportRow[];
  /** Rows for the previous time range, if the overview shows it for comparison. */
  previousRows: ReportRow[] | undefined;
  points: Point[];
  total: Figures;
  previousTotal: Figures | undefined;
  isPending: boolean;
  /** False before the first response. Until then, missing figures must not be shown as zeros. */
  hasData: boolean;
  error: Error | null;
}

/** Reads the overview's data for a time range and, if `isComparing`, for the previous time range. */
export function useFigures(rangeName: RangeName, isComparing: boolean): OverviewFigures {
  const call = useCall();
  const { data, isPending, error } = useQuery({
    queryKey: ['overview', rangeName, isComparing],
    queryFn: async () => {
      const nowMs = Date.now();
      const range = makeTimeRange(rangeName, nowMs);
      const previousRange = makeTimeRange(rangeName, nowMs, 1);
      const read = async (period: TimeRange) => (await call<Report>(reportPath(period))).body.data;
      const [rows, previousRows] = await Promise.all([
        read(range),
        isComparing ? read(previousRange) : undefined,
      ]);
      return { range, rows, previousRange, previousRows };
    },
  });
  const range = data?.range ?? makeTimeRange(rangeName, Date.now());
  const rows = data?.rows ?? [];
  const previousRows = data?.previousRows;
  return {
    range,
    rows,
    previousRows,
    isPending,
    hasData: data !== undefined,
    error,
    total: sumRows(rows),
    previousTotal: previousRows && sumRows(previousRows),
    points: toPoints(range.periods, rows, previousRows && data.previousRange.periods, previousRows),
  };
}

/** Returns the path of the report for a time range, grouped by placement. */
export const reportPath = ({ from, to, interval }: TimeRange, format?: 'csv'): string =>
  query('/v1/reports', {
    from: from.toISOString(),
    to: to.toISOString(),
    interval,
    group_by: 'placement',
    format,
  });
