import type { Environment } from '../key/key-text.ts';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Queries } from '../store/database.ts';
import type { Scope } from './scope.ts';
import type { ResourceKind, ResourceKinds, Stored } from './resource.ts';

export interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor?: string;
}

interface ResourceRow {
  id: string;
  environment: Environment;
  document: object;
  created_at: Date;
  updated_at: Date;
}

/** A row as its document on the wire. */
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

const columns = 'id, environment, document, created_at, updated_at';

/** Creates, reads, lists and archives managed objects. Each change raises the account's config version. */
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
      await raiseConfigVersion(queries, scope.accountId);
      return toDocument<K>(row);
    },

    async read<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      id: string,
    ): Promise<ResourceKinds[K] | undefined> {
      const [row] = await queries.query<ResourceRow>(
        `SELECT ${columns} FROM resources
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND id = $4 AND archived_at IS NULL`,
        [scope.accountId, scope.environment, kind, id],
      );
      return row && toDocument<K>(row);
    },

    /** Newest first; ids are ordered by time, so the last id of a page is its cursor. */
    async list<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      { limit, startingAfter }: { limit: number; startingAfter?: string },
    ): Promise<Page<ResourceKinds[K]>> {
      const rows = await queries.query<ResourceRow>(
        `SELECT ${columns} FROM resources
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND archived_at IS NULL
            AND ($4::text IS NULL OR id < $4)
          ORDER BY id DESC LIMIT $5`,
        [scope.accountId, scope.environment, kind, startingAfter ?? null, limit + 1],
      );
      const data = rows.slice(0, limit).map((row) => toDocument<K>(row));
      const last = data.at(-1);
      return rows.length > limit && last
        ? { data, has_more: true, next_cursor: last.id }
        : { data, has_more: false };
    },

    /** Merges `change` into the document; undefined when there is no such object. */
    async update<K extends ResourceKind>(
      queries: Queries,
      scope: Scope,
      kind: K,
      id: string,
      change: Partial<Stored<K>>,
    ): Promise<ResourceKinds[K] | undefined> {
      const [row] = await queries.query<ResourceRow>(
        `UPDATE resources SET document = document || $5::text::jsonb, revision = revision + 1, updated_at = $6
          WHERE account_id = $1 AND environment = $2 AND kind = $3 AND id = $4 AND archived_at IS NULL
          RETURNING ${columns}`,
        [
          scope.accountId,
          scope.environment,
          kind,
          id,
          JSON.stringify(change),
          new Date(clock.nowMs()),
        ],
      );
      if (row) await raiseConfigVersion(queries, scope.accountId);
      return row && toDocument<K>(row);
    },

    /** Takes the object out of use; false when there is none. */
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
      if (rows.length > 0) await raiseConfigVersion(queries, scope.accountId);
      return rows.length > 0;
    },
  };
}

export type ResourceStore = ReturnType<typeof createResourceStore>;

/** Tells every process that keys or resources of the account changed. */
export async function raiseConfigVersion(queries: Queries, accountId: string): Promise<void> {
  await queries.query(
    `INSERT INTO config_versions (account_id, version) VALUES ($1, 1)
      ON CONFLICT (account_id) DO UPDATE SET version = config_versions.version + 1`,
    [accountId],
  );
}
