import type { SecretBox } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';

/**
 * What is secret about a source. It is encrypted and stored separately, so that responses, exports and audit records
 * never contain it.
 */
export interface SourceSecrets<T> {
  /** Replaces or removes a source's secret, in the operation's transaction. */
  store(operation: Operation, sourceId: string, value: T | undefined): Promise<void>;
  /**
   * Reads a source's secret and caches it in memory.
   *
   * @throws Error when it cannot be read, for example because the master key was lost.
   */
  read(accountId: string, source: { id: string }): Promise<T>;
}

interface Deps {
  database: Queries;
  box: SecretBox;
  clock: Pick<Clock, 'nowMs'>;
}

/**
 * @param purpose the purpose in the `secrets` table
 * @param member the member of the API with which an operator sets it
 */
export function createSourceSecrets<T>(
  { database, box, clock }: Deps,
  purpose: string,
  member: string,
): SourceSecrets<T> {
  // The cache never returns a stale secret, because each configuration change creates a snapshot with new objects.
  const cache = new WeakMap<{ id: string }, Promise<T>>();
  const readStored = async (accountId: string, sourceId: string): Promise<T> => {
    const [row] = await database.query<{ sealed: string }>(
      'SELECT sealed FROM secrets WHERE account_id = $1 AND purpose = $2 AND id = $3',
      [accountId, purpose, sourceId],
    );
    if (row) return JSON.parse(box.open(row.sealed)) as T;
    throw new Error(
      `The ${member} of ${sourceId} does not exist in the database. Set the source's ${member} again.`,
    );
  };
  return {
    async store({ queries, scope }, sourceId, value) {
      const key = [scope.accountId, purpose, sourceId];
      if (value === undefined) {
        await queries.query(
          'DELETE FROM secrets WHERE account_id = $1 AND purpose = $2 AND id = $3',
          key,
        );
        return;
      }
      await queries.query(
        `INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (account_id, purpose, id) DO UPDATE
            SET sealed = excluded.sealed, created_at = excluded.created_at`,
        [...key, box.seal(JSON.stringify(value)), new Date(clock.nowMs())],
      );
    },
    read(accountId, source) {
      const cached = cache.get(source);
      if (cached) return cached;
      const secret = readStored(accountId, source.id);
      cache.set(source, secret);
      secret.catch(() => cache.delete(source));
      return secret;
    },
  };
}
