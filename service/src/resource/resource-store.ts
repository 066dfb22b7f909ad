import type { Environment } from '../access/principal.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import { incrementConfigVersion } from '../store/config-version.ts';
import type { Queries, Scope } from '../store/database.ts';
import type { ResourceKind, ResourceKinds, Stored } from './resource.ts';

/** A document and its revision. The API sends the revision as the `ETag`. */
export interface Versioned<T> {
  document: T;
  revision: number;
}

interface ResourceRow {
  id: string;
  environment: Environment;
  document: object;
  created_at: Date;
  updated_at: Date;
}

type VersionedRow = ResourceRow & { revision: number };

/** Converts a row to the document that the API returns. */
export function toDocument<K extends ResourceKind>(row: ResourceRow): ResourceKinds[K] {
  const document = {
    id: row.id,
    environment: row.environment,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...row.document,
  };
  return document as ResourceKinds[K];
}

const resourceColumns = 'id, environment, document, created_at, updated_at, revision';

const toVersioned = <K extends ResourceKind>(row: VersionedRow): Versioned<ResourceKinds[K]> => ({
  document: toDocument<K>(row),
  revision: row.revision,
});

/** Creates, reads, lists and archives managed objects. Each change increments the account's config version. */
export function createResourceStore(clock: Clock, makeId: MakeId) {
  return {
    async create<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      document: Stored<K>,
    ): Promise<ResourceKinds[K]> {
      const now = new Date(clock.nowMs());
      const row = {
        id: makeId(kind),
        environment: scope.environment,
        document,
        created_at: now,
        updated_at: now,
      };
      await queries.query(
        `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
          VALUES ($1, $2, $3, $4, $5::text::jsonb, 1, $6, $6)`,
        [scope.accountId, scope.environment, kind, row.id, JSON.stringify(document), now],
      );
      await incrementConfigVersion(queries, scope.accountId);
      return toDocument<K>(row);
    },

    async find<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      id: string,
    ): Promise<Versioned<ResourceKinds[K]> | undefined> {
      const [row] = await queries.query<VersionedRow>(
        `SELECT ${resourceColumns} FROM resources
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND id = $4 AND archived_at IS NULL`,
        [scope.accountId, scope.environment, kind, id],
      );
      return row && toVersioned<K>(row);
    },

    /**
     * Returns a page of objects, newest first. The last id is the cursor for the next page, because ids sort by time.
     */
    async list<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      { limit, startingAfter }: { limit: number; startingAfter?: string },
    ): Promise<Page<ResourceKinds[K]>> {
      const rows = await queries.query<VersionedRow>(
        `SELECT ${resourceColumns} FROM resources
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND archived_at IS NULL
            AND ($4::text IS NULL OR id < $4)
          ORDER BY id DESC LIMIT $5`,
        [scope.accountId, scope.environment, kind, startingAfter ?? null, limit + 1],
      );
      return toPage(
        rows.map((row) => toDocument<K>(row)),
        limit,
      );
    },

    /** Replaces a document. Returns undefined if the object does not exist. */
    async replace<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      id: string,
      document: Stored<K>,
    ): Promise<Versioned<ResourceKinds[K]> | undefined> {
      const [row] = await queries.query<VersionedRow>(
        `UPDATE resources SET document = $5::text::jsonb, revision = revision + 1, updated_at = $6
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND id = $4 AND archived_at IS NULL
          RETURNING ${resourceColumns}`,
        [
          scope.accountId,
          scope.environment,
          kind,
          id,
          JSON.stringify(document),
          new Date(clock.nowMs()),
        ],
      );
      if (row) await incrementConfigVersion(queries, scope.accountId);
      return row && toVersioned<K>(row);
    },

    /** Archives an object. Returns false if the object does not exist. */
    async archive(
      queries: Queries,
      scope: Scope,
      kind: ResourceKind,
      id: string,
    ): Promise<boolean> {
      const rows = await queries.query(
        `UPDATE resources SET archived_at = $5, updated_at = $5, revision = revision + 1
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND id = $4 AND archived_at IS NULL
          RETURNING id`,
        [scope.accountId, scope.environment, kind, id, new Date(clock.nowMs())],
      );
      if (rows.length > 0) await incrementConfigVersion(queries, scope.accountId);
      return rows.length > 0;
    },
  };
}

export type ResourceStore = ReturnType<typeof createResourceStore>;

/** A page of a list. To get the next page, pass `next_cursor` as `starting_after`. */
interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor?: string;
}

/** Creates a page from up to `limit` + 1 rows. The extra row indicates that there is another page. */
export function toPage<T extends { id: string }>(rows: readonly T[], limit: number): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return rows.length > limit && last
    ? { data, has_more: true, next_cursor: last.id }
    : { data, has_more: false };
}

/** The filter, order and page of a search. */
interface ResourceSearch {
  /** A substring of the object's name, URL or id, or of the name of a placement that the object refers to. */
  text?: string;
  /** Returns only objects with these ids. */
  ids?: readonly string[];
  /** Returns only objects with these values, by member path, such as `review.status`. */
  where?: readonly { path: string; value: string }[];
  /** The path of the member to sort by. */
  sort: string;
  descending: boolean;
  limit: number;
  offset: number;
}

/** The text to search. Doesn't include the whole document, because the names of its members would match too. */
const searchedText = `lower(concat_ws(' ', id, document->>'name', document->>'domain', document->>'url',
  document->>'tag_url', document->>'placements', document->>'target_id', document->>'reason'))`;

/** Builds an ORDER BY list that sorts numbers by value and everything else as case-insensitive text. */
const formatOrder = (direction: 'ASC' | 'DESC') =>
  [
    "CASE WHEN jsonb_typeof(value) = 'number' THEN value::text::numeric END",
    `lower(value #>> '{}')`,
    'id',
  ]
    .map((key) => `${key} ${direction} NULLS LAST`)
    .join(', ');

/** Returns a page of the matching objects, and the total number of matching objects. */
export async function searchResources<K extends ResourceKind>(
  queries: Queries,
  { accountId, environment }: Scope,
  kind: K,
  search: ResourceSearch,
): Promise<{ data: Versioned<ResourceKinds[K]>[]; total: number }> {
  const { text, ids, where = [], sort, descending, limit, offset } = search;
  const rows = await queries.query<VersionedRow & { total: number }>(
    `SELECT ${resourceColumns}, count(*) OVER ()::bigint AS total
      FROM resources, LATERAL (
        SELECT (document || jsonb_build_object('created_at', created_at, 'updated_at', updated_at))
          #> string_to_array($7, '.') AS value) AS sorted
      WHERE account_id = $1 AND environment = $2 AND kind = $3 AND archived_at IS NULL
        AND ($4::text IS NULL OR strpos(${searchedText}, lower($4)) > 0)
        AND ($5::text IS NULL OR id IN (SELECT jsonb_array_elements_text($5::text::jsonb)))
        AND NOT EXISTS (
          SELECT FROM jsonb_to_recordset($6::text::jsonb) AS wanted(path text, value text)
            WHERE document #>> string_to_array(wanted.path, '.') IS DISTINCT FROM wanted.value)
      ORDER BY ${formatOrder(descending ? 'DESC' : 'ASC')} LIMIT $8 OFFSET $9`,
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
  // The total is read from the rows, but a page past the last one has no rows.
  if (!first && offset > 0) {
    const { total } = await searchResources(queries, { accountId, environment }, kind, {
      ...search,
      limit: 1,
      offset: 0,
    });
    return { data: [], total };
  }
  return { data: rows.map((row) => toVersioned<K>(row)), total: first?.total ?? 0 };
}
