import { reportDimensions } from '@trueward/protocol';
import type { FastifyInstance } from 'fastify';
import { instantOf } from '../../platform/instant.ts';
import { type ReportDimension, type ReportQuery, readReport } from '../../report/report.ts';
import { reportCsv } from '../../report/report-csv.ts';
import type { Database } from '../../store/database.ts';
import { principalOf } from '../authentication/authenticate.ts';
import { ProblemError } from '../problems/problem.ts';

interface ReportAddress {
  from: string;
  to: string;
  interval: 'hour' | 'day';
  group_by?: string;
  tz: string;
  format: 'json' | 'csv';
}

const hourMs = 3_600_000;
/** The longest reports, in hours. */
const longest = { hour: 31 * 24, day: 400 * 24 };

const time = (description: string) => ({ type: 'string', format: 'date-time', description });

const querySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to'],
  properties: {
    from: time('Included; a whole hour.'),
    to: time('Not included; a whole hour.'),
    interval: { type: 'string', enum: ['hour', 'day'], default: 'day' },
    group_by: {
      type: 'string',
      maxLength: 100,
      description: `Of ${reportDimensions.join(', ')}, separated by commas.`,
    },
    tz: {
      type: 'string',
      maxLength: 64,
      default: 'UTC',
      description: 'The zone whose days these are, as `Europe/Berlin`.',
    },
    format: { type: 'string', enum: ['json', 'csv'], default: 'json' },
  },
};

/** `GET /v1/reports`: sums of what happened, as JSON or CSV. */
export function addReportRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  app.get<{ Querystring: ReportAddress }>(
    '/v1/reports',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readReport',
        summary: 'Sums of what happened',
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
      const report = await readReport(database, principalOf(request), query);
      if (request.query.format === 'json') return report;
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="report.csv"')
        .serializer(String)
        .send(reportCsv(report, query.groupBy));
    },
  );
}

function readQuery({ from, to, interval, group_by: groups = '', tz }: ReportAddress): ReportQuery {
  const [fromMs, toMs] = [instantOf(from), instantOf(to)];
  const groupBy = [...new Set(groups.split(',').filter((name) => name !== ''))];
  const hours = (toMs - fromMs) / hourMs;
  const errors = [
    [fromMs % hourMs !== 0, '/from', 'must be a whole hour'],
    [toMs % hourMs !== 0, '/to', 'must be a whole hour'],
    [!(hours > 0), '/to', 'must be after `from`'],
    [
      hours > longest[interval],
      '/to',
      `is more than ${longest[interval] / 24} days after \`from\``,
    ],
    [!groupBy.every(isDimension), '/group_by', `must be of ${reportDimensions.join(', ')}`],
    [!isTimeZone(tz), '/tz', 'is not a known time zone'],
  ] as [boolean, string, string][];
  const wrong = errors.filter(([refused]) => refused);
  if (wrong.length > 0) {
    throw new ProblemError('invalid_request', 'The querystring is not valid.', {
      errors: wrong.map(([, pointer, message]) => ({ pointer, message })),
    });
  }
  return { fromMs, toMs, interval, groupBy: groupBy.filter(isDimension), timeZone: tz };
}

const isDimension = (name: string): name is ReportDimension =>
  (reportDimensions as readonly string[]).includes(name);

function isTimeZone(name: string): boolean {
  try {
    // Offsets as `+05:30` mean the opposite in PostgreSQL (POSIX), so names only.
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false; // a RangeError says so
  }
}
