import { reportDimensions } from '@trueward/protocol';
import type { FastifyInstance } from 'fastify';
import { errorsWhere } from '../../platform/domain-error.ts';
import { hourMs, requireInstant } from '../../platform/time.ts';
import {
  maxReportDays,
  readReport,
  reportCsv,
  type ReportDimension,
  type ReportFilter,
  reportFilters,
  type ReportQuery,
} from '../../history/report.ts';
import { isTimeZone } from '../../history/time-buckets.ts';
import type { Database } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { ProblemError } from '../problem.ts';

interface ReportParams extends Partial<Record<ReportFilter, string>> {
  from: string;
  to: string;
  interval: 'hour' | 'day';
  group_by?: string;
  tz: string;
  format: 'json' | 'csv';
}

const dateTimeSchema = (description: string) => ({
  type: 'string',
  format: 'date-time',
  description,
});

const querySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to'],
  properties: {
    from: dateTimeSchema('Inclusive; must be on the hour.'),
    to: dateTimeSchema('Exclusive; must be on the hour.'),
    interval: { type: 'string', enum: ['hour', 'day'], default: 'day' },
    group_by: {
      type: 'string',
      maxLength: 100,
      description: `Comma-separated; any of ${reportDimensions.join(', ')}.`,
    },
    ...Object.fromEntries(
      reportFilters.map((name) => [
        name,
        {
          type: 'string',
          minLength: 1,
          maxLength: 4_000,
          description: `Comma-separated ${name === 'placement' ? 'names' : 'ids'}. Counts only these.`,
        },
      ]),
    ),
    tz: {
      type: 'string',
      maxLength: 64,
      default: 'UTC',
      description:
        'The time zone that defines days: an IANA name, such as `Europe/Berlin`. Counts older than two weeks are kept by UTC day, which belongs to the day on which it starts.',
    },
    format: { type: 'string', enum: ['json', 'csv'], default: 'json' },
  },
};

/** Adds `GET /v1/reports`, which returns totals by period as JSON or CSV. */
export function addReportRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  app.get<{ Querystring: ReportParams }>(
    '/v1/reports',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readReport',
        summary: 'Read a report',
        querystring: querySchema,
        response: {
          200: {
            description: 'The report.',
            content: {
              'application/json': { schema: { $ref: 'Report#' } },
              'text/csv': { schema: { type: 'string' } },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const query = readQuery(request.query);
      const report = await readReport(database, getPrincipal(request), query);
      if (request.query.format === 'json') return report;
      const csv = await reportCsv(report, query.groupBy);
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="report.csv"')
        .serializer(String)
        .send(csv);
    },
  );
}

function readQuery(params: ReportParams): ReportQuery {
  const { from, to, interval, group_by: groups = '', tz } = params;
  const [fromMs, toMs] = [requireInstant(from), requireInstant(to)];
  const groupBy = splitList(groups);
  const hours = (toMs - fromMs) / hourMs;
  const errors = errorsWhere(
    [fromMs % hourMs !== 0, '/from', 'must be on the hour'],
    [toMs % hourMs !== 0, '/to', 'must be on the hour'],
    [!(hours > 0), '/to', 'must be after `from`'],
    [
      hours > maxReportDays[interval] * 24,
      '/to',
      `is more than ${maxReportDays[interval]} days after \`from\``,
    ],
    [!groupBy.every(isDimension), '/group_by', `must be any of ${reportDimensions.join(', ')}`],
    [!isTimeZone(tz), '/tz', 'must be an IANA name such as Europe/Berlin, or UTC'],
  );
  if (errors.length > 0)
    throw new ProblemError('invalid_request', 'The query string is not valid.', { errors });
  const only = Object.fromEntries(
    reportFilters.flatMap((name) => {
      const values = params[name];
      return values === undefined ? [] : [[name, splitList(values)]];
    }),
  );
  return { fromMs, toMs, interval, groupBy: groupBy.filter(isDimension), only, timeZone: tz };
}

const splitList = (text: string): string[] => [
  ...new Set(text.split(',').filter((name) => name !== '')),
];

const isDimension = (name: string): name is ReportDimension =>
  (reportDimensions as readonly string[]).includes(name);
