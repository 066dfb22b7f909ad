import Type from 'typebox';
import { named, oneOf, ref, time } from './common.ts';

/** The counts in a report. */
export const reportMetrics = [
  'requests',
  'filled',
  'no_fill',
  'blocked',
  'impressions',
  'viewable',
  'starts',
  'first_quartiles',
  'midpoints',
  'third_quartiles',
  'completes',
  'clicks',
  'rewards_earned',
  'rewards_denied',
  'rewards_expired',
  'source_requests',
  'source_bids',
  'source_wins',
  'source_timeouts',
  'source_errors',
  'trackers_sent',
  'trackers_failed',
  'trackers_late',
  'revenue_micros',
] as const;

export const reportDimensions = [
  'placement',
  'creative',
  'source',
  'advertiser',
  'house_ad',
  'reason',
] as const;

const rate = (description: string) =>
  Type.Optional(
    Type.Number({ minimum: 0, description: `${description} Absent if the divisor is zero.` }),
  );
const byReason = Type.Object({}, { additionalProperties: Type.Integer({ minimum: 1 }) });

export const reportRowSchema = named('ReportRow', 'The totals for a period and group.', {
  period: time('The start of the period.'),
  ...Object.fromEntries(
    reportDimensions.map((name) => [
      name,
      Type.Optional(
        Type.String({
          description:
            'Present if the report is grouped by this dimension. An empty string means that there is no value.',
        }),
      ),
    ]),
  ),
  ...(Object.fromEntries(
    reportMetrics.map((name) => [name, Type.Integer({ minimum: 0 })]),
  ) as Record<(typeof reportMetrics)[number], ReturnType<typeof Type.Integer>>),
  reasons: Type.Object(
    {
      no_fill: byReason,
      blocked: byReason,
      rewards_denied: byReason,
      rewards_expired: byReason,
      trackers_failed: byReason,
      revenue_micros: byReason,
    },
    { additionalProperties: false, description: 'Counts by reason, and revenue by currency.' },
  ),
  fill_rate: rate('`filled` divided by `requests`.'),
  view_through_rate: rate('`impressions` divided by `filled`.'),
  completion_rate: rate('`completes` divided by `starts`.'),
});

export const reportSchema = named('Report', 'Totals by period and group.', {
  from: time('Inclusive.'),
  to: time('Exclusive.'),
  interval: oneOf(['hour', 'day']),
  tz: Type.String({ description: 'The time zone that determines when each day begins.' }),
  data: Type.Array(ref('ReportRow')),
});
