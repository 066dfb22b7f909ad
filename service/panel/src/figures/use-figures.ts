import { useQuery } from '@tanstack/react-query';
import type { Report, ReportRow } from '@trueward/protocol/wire';
import { useCall } from '../api/use-call.ts';
import {
  type Figures,
  type Point,
  sumRows,
  toPoints,
  type RangeName,
  type TimeRange,
  makeTimeRange,
  reportPath,
  type Subject,
} from './figures.ts';

export interface RangeFigures {
  range: TimeRange;
  /** One row per period and placement. */
  rows: ReportRow[];
  /** Rows for the previous time range, if it is compared. */
  previousRows: ReportRow[] | undefined;
  points: Point[];
  total: Figures;
  previousTotal: Figures | undefined;
  isPending: boolean;
  /** False before the first response. Until then, missing figures must not be shown as zeros. */
  hasData: boolean;
  error: Error | null;
}

/**
 * Reads the figures for a time range and, if `isComparing`, for the previous time range. Without a subject, they are
 * those of the environment.
 */
export function useFigures(
  rangeName: RangeName,
  isComparing: boolean,
  subject?: Subject,
): RangeFigures {
  const call = useCall();
  const { data, isPending, error } = useQuery({
    queryKey: ['figures', rangeName, isComparing, subject],
    queryFn: async () => {
      const nowMs = Date.now();
      const range = makeTimeRange(rangeName, nowMs);
      const previousRange = makeTimeRange(rangeName, nowMs, 1);
      const read = async (period: TimeRange) =>
        (await call<Report>(reportPath(period, subject))).body.data;
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
