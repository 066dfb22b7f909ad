const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The time ranges to choose from. */
export const ranges = {
  day: { name: 'Last 24 hours', interval: 'hour', count: 24 },
  week: { name: 'Last 7 days', interval: 'day', count: 7 },
  month: { name: 'Last 30 days', interval: 'day', count: 30 },
  quarter: { name: 'Last 90 days', interval: 'day', count: 90 },
} as const;

export type RangeName = keyof typeof ranges;

/** Whole hours or days (UTC) of a report, the running one included. */
export interface TimeRange {
  interval: 'hour' | 'day';
  from: Date;
  to: Date;
  /** When each period begins. */
  periods: string[];
}

/** The range that ends now, or, `back` times its length earlier, the one that it is compared with. */
export function timeRange(name: RangeName, nowMs: number, back = 0): TimeRange {
  const { interval, count } = ranges[name];
  const stepMs = interval === 'hour' ? hourMs : dayMs;
  const endMs = (Math.floor(nowMs / stepMs) + 1 - back * count) * stepMs;
  const startMs = endMs - count * stepMs;
  const periods = Array.from({ length: count }, (_value, index) =>
    new Date(startMs + index * stepMs).toISOString(),
  );
  return { interval, from: new Date(startMs), to: new Date(endMs), periods };
}
