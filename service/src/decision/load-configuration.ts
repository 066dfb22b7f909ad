import type { Environment, KeyKind, KeyPrincipal } from '../access/principal.ts';
import { toDocument } from '../resource/resource-store.ts';
import type { ResourceKind } from '../resource/resource.ts';
import type { Database } from '../store/database.ts';
import { type AnyResource, compileSnapshot, type Snapshot } from './snapshot.ts';

/** An account's resources, and the snapshots that were compiled from them. */
export interface AccountResources {
  /** By id. */
  resources: Record<Environment, Map<string, AnyResource>>;
  snapshots: Record<Environment, Snapshot>;
}

const environments = ['sandbox', 'live'] as const;

/**
 * Reads an account's resources. Reads only those that have changed after the configuration version `sinceVersion`, so
 * that a change costs little however much the account stores. Compiles only environments in which something changed.
 */
export async function loadResources(
  database: Database,
  accountId: string,
  previous?: AccountResources & { sinceVersion: number },
): Promise<AccountResources> {
  const rows = await database.query<{
    environment: Environment;
    kind: ResourceKind;
    id: string;
    document: object;
    created_at: Date;
    updated_at: Date;
    archived_at: Date | null;
  }>(
    `SELECT environment, kind, id, document, created_at, updated_at, archived_at FROM resources
      WHERE account_id = $1 AND ${previous ? 'version > $2' : 'archived_at IS NULL'} ORDER BY id`,
    previous ? [accountId, previous.sinceVersion] : [accountId],
  );
  const apply = (environment: Environment): Map<string, AnyResource> | undefined => {
    const changed = rows.filter((row) => row.environment === environment);
    if (previous && changed.length === 0) return undefined;
    const resources = new Map(previous?.resources[environment]);
    for (const row of changed) {
      if (row.archived_at === null)
        resources.set(row.id, { kind: row.kind, document: toDocument(row) } as AnyResource);
      else resources.delete(row.id);
    }
    return resources;
  };
  const result = { resources: {}, snapshots: {} } as AccountResources;
  for (const environment of environments) {
    const resources = apply(environment);
    // Other processes may have created objects with lower ids a moment later.
    const list = resources && [...resources].sort(([a], [b]) => (a < b ? -1 : 1));
    result.resources[environment] = resources ?? previous?.resources[environment] ?? new Map();
    result.snapshots[environment] = list
      ? compileSnapshot(list.map(([, resource]) => resource))
      : (previous?.snapshots[environment] ?? compileSnapshot([]));
  }
  return result;
}

/** Reads an account's keys, by hash. */
export async function loadKeys(
  database: Database,
  accountId: string,
): Promise<[hash: string, key: KeyPrincipal][]> {
  const rows = await database.query<{
    id: string;
    environment: Environment;
    kind: KeyKind;
    hash: string;
    allowed_origins: string[];
    rate_limit: { per_s: number; burst: number } | null;
    revoked_at: Date | null;
  }>(
    'SELECT id, environment, kind, hash, allowed_origins, rate_limit, revoked_at FROM keys WHERE account_id = $1',
    [accountId],
  );
  return rows.map((row) => [
    row.hash,
    {
      accountId,
      environment: row.environment,
      kind: row.kind,
      keyId: row.id,
      allowedOrigins: row.allowed_origins,
      ...(row.rate_limit === null
        ? {}
        : { rateLimit: { perS: row.rate_limit.per_s, burst: row.rate_limit.burst } }),
      ...(row.revoked_at === null ? {} : { revokedAtMs: row.revoked_at.getTime() }),
    },
  ]);
}
