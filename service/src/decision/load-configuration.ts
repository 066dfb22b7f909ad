import type { Environment, KeyKind, KeyPrincipal } from '../access/principal.ts';
import { toDocument } from '../resource/resource-store.ts';
import type { ResourceKind } from '../resource/resource.ts';
import type { Database } from '../store/database.ts';
import { type AnyResource, compileSnapshot, type Snapshot } from './snapshot.ts';

/** Reads an account's resources, and compiles them. */
export async function loadSnapshots(
  database: Database,
  accountId: string,
): Promise<Record<Environment, Snapshot>> {
  const rows = await database.query<{
    environment: Environment;
    kind: ResourceKind;
    id: string;
    document: object;
    created_at: Date;
    updated_at: Date;
  }>(
    `SELECT environment, kind, id, document, created_at, updated_at FROM resources
      WHERE account_id = $1 AND archived_at IS NULL ORDER BY id`,
    [accountId],
  );
  const compileEnvironment = (environment: Environment) =>
    compileSnapshot(
      rows
        .filter((row) => row.environment === environment)
        .map((row) => ({ kind: row.kind, document: toDocument(row) }) as AnyResource),
    );
  return { sandbox: compileEnvironment('sandbox'), live: compileEnvironment('live') };
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
