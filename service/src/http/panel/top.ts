import type { FastifyInstance } from 'fastify';
import { errorsWhere } from '../../platform/domain-error.ts';
import { maxReportDays, type ReportFilter, reportFilters } from '../../history/report.ts';
import { readTop, type TopCount, topCounts } from '../../history/top.ts';
import { hourMs, requireInstant } from '../../platform/time.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { ProblemError } from '../problem.ts';
import { type PanelDeps, textSchema } from './panel-deps.ts';

interface TopParams extends Partial<Record<ReportFilter, string>> {
  from: string;
  to: string;
  dimension: ReportFilter;
  by: TopCount;
}

const querystring = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to', 'dimension', 'by'],
  properties: {
    from: { type: 'string', format: 'date-time' },
    to: { type: 'string', format: 'date-time' },
    dimension: { type: 'string', enum: reportFilters },
    by: { type: 'string', enum: Object.keys(topCounts) },
    ...Object.fromEntries(reportFilters.map((name) => [name, textSchema(64)])),
  },
} as const;

const limit = 10;

/** Adds `/panel/api/top`, which returns the placements, ads, advertisers or sources with the highest counts. */
export function addTopRoute(app: FastifyInstance, { database }: PanelDeps): void {
  app.get<{ Querystring: TopParams }>(
    '/panel/api/top',
    { config: { panel: 'environment', role: 'viewer' }, schema: { hide: true, querystring } },
    async (request) => {
      const { from, to, dimension, by, ...only } = request.query;
      const [fromMs, toMs] = [requireInstant(from), requireInstant(to)];
      const days = (toMs - fromMs) / (24 * hourMs);
      const errors = errorsWhere(
        [!(days > 0), '/to', 'must be after `from`'],
        [days > maxReportDays.day, '/to', `is more than ${maxReportDays.day} days after \`from\``],
      );
      if (errors.length > 0)
        throw new ProblemError('invalid_request', 'The query string is not valid.', { errors });
      const query = { fromMs, toMs, dimension, by, only, limit };
      return { data: await readTop(database, getPrincipal(request), query) };
    },
  );
}
