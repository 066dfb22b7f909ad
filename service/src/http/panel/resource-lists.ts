import type { FastifyInstance } from 'fastify';
import { toEffective } from '../../resource/effective-state.ts';
import { searchResources } from '../../resource/resource-store.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { toEntityTag } from '../operations.ts';
import { ProblemError } from '../problem.ts';
import { findUnstorableText } from '../request-bodies.ts';
import { managedResources, webhookResource } from '../routes/resources.ts';
import { type PanelDeps, textSchema } from './panel-deps.ts';

interface ListQuery {
  q?: string;
  /** Comma-separated. */
  ids?: string;
  /** Filters in query string format, such as `review.status=approved`. */
  where?: string;
  sort: string;
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
}

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    q: textSchema(200, 0),
    ids: textSchema(6_400, 0),
    where: textSchema(1_000, 0),
    sort: { ...textSchema(100), default: 'name' },
    order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
    offset: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 },
  },
} as const;

/**
 * Adds `/panel/api/placements` and the panel's other lists. These lists use offset pagination, and are searched and
 * sorted by the database. The lists in `/v1` use cursor pagination instead, so that no object is skipped or repeated
 * when others are added between two requests.
 */
export function addResourceLists(app: FastifyInstance, { database, clock }: PanelDeps): void {
  for (const { kind, path } of [...managedResources, webhookResource]) {
    app.get<{ Querystring: ListQuery }>(
      path.replace('/v1/', '/panel/api/'),
      { config: { panel: 'environment' }, schema: { hide: true, querystring } },
      async (request) => {
        const { q, ids, where = '', sort, order, limit, offset } = request.query;
        const { data, total } = await searchResources(database, getPrincipal(request), kind, {
          ...(q === undefined || q === '' ? {} : { text: q }),
          ...(ids === undefined ? {} : { ids: ids.split(',') }),
          where: readFilters(where),
          sort,
          descending: order === 'desc',
          limit,
          offset,
        });
        // Each object carries its revision, so that a change can be refused if the object differs from what was shown.
        const describe = ({ document, revision }: (typeof data)[number]) => ({
          ...toEffective(kind, document, clock.nowMs()),
          etag: toEntityTag(revision),
        });
        return { data: data.map(describe), total };
      },
    );
  }
}

/** @throws ProblemError for text that the database can't compare: the filters are encoded twice, and checked once. */
function readFilters(where: string): { path: string; value: string }[] {
  const filters = [...new URLSearchParams(where)].map(([path, value]) => ({ path, value }));
  if (findUnstorableText(filters) === undefined) return filters;
  throw new ProblemError('invalid_request', 'The query string is not valid.', {
    errors: [{ pointer: '/where', message: 'contains a character that is not allowed in text' }],
  });
}
