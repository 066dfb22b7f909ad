import type { Queries, Scope } from '../store/database.ts';
import type { ResourceKind, ResourceKinds } from './resource.ts';
import { type ResourceRow, resourceColumns, toDocument } from './resource-store.ts';

/** Filter, order and page of a search. */
export interface ResourceSearch {
  /** A part of a name, URL or id, or of the name of a placement that the object refers to. */
  text?: string;
  /** Only these objects. */
  ids?: readonly string[];
  /** Only objects with these values, by member path, such as `review.status`. */
  where?: readonly { path: string; value: string }[];
  /** The path of the member to sort by. */
  sort: string;
  descending: boolean;
  limit: number;
  offset: number;
}

/** The searched text. The whole document would also match the names of its members. */
const searched = `lower(concat_ws(' ', id, document->>'name', document->>'domain', document->>'url',
  document->>'tag_url', document->>'placements', document->>'target_id', document->>'reason'))`;

/** Numbers by value, everything else as text, ignoring case. */
const order = (direction: 'ASC' | 'DESC') =>
  [
    "CASE WHEN jsonb_typeof(value) = 'number' THEN value::text::numeric END",
    `lower(value #>> '{}')`,
    'id',
  ]
    .map((key) => `${key} ${direction} NULLS LAST`)
    .join(', ');

/** One page of the matching objects, and their total number. */
export async function searchResources<K extends ResourceKind>(
  queries: Queries,
  { accountId, environment }: Scope,
  kind: K,
  search: ResourceSearch,
): Promise<{ data: ResourceKinds[K][]; total: number }> {
  const { text, ids, where = [], sort, descending, limit, offset } = search;
  const rows = await queries.query<ResourceRow & { total: number }>(
    `SELECT ${resourceColumns}, count(*) OVER ()::bigint AS total
      FROM resources, LATERAL (
        SELECT (document || jsonb_build_object('created_at', created_at, 'updated_at', updated_at))
          #> string_to_array($7, '.') AS value) AS sorted
      WHERE account_id = $1 AND environment = $2 AND kind = $3 AND archived_at IS NULL
        AND ($4::text IS NULL OR strpos(${searched}, lower($4)) > 0)
        AND ($5::text IS NULL OR id IN (SELECT jsonb_array_elements_text($5::text::jsonb)))
        AND NOT EXISTS (
          SELECT FROM jsonb_to_recordset($6::text::jsonb) AS wanted(path text, value text)
            WHERE document #>> string_to_array(wanted.path, '.') IS DISTINCT FROM wanted.value)
      ORDER BY ${order(descending ? 'DESC' : 'ASC')} LIMIT $8 OFFSET $9`,
    [
      accountId,
      environment,
      kind,
      text ?? null,
      ids === undefined ? null : JSON.stringify(ids),
      JSON.stringify(where),
      sort,
      limit,
      offset,
    ],
  );
  const [first] = rows;
  // Past the last page, no row carries the total.
  if (!first && offset > 0) {
    const { total } = await searchResources(queries, { accountId, environment }, kind, {
      ...search,
      limit: 1,
      offset: 0,
    });
    return { data: [], total };
  }
  return { data: rows.map((row) => toDocument<K>(row)), total: first?.total ?? 0 };
}
