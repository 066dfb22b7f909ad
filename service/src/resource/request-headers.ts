import type { SecretBox } from '../key/secret-box.ts';
import type { Clock } from '../platform/clock.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';
import type { ExternalSource } from './external-source.ts';

const purpose = 'source_headers';

type Headers = Readonly<Record<string, string>>;
type Members = Record<string, unknown>;

/**
 * The HTTP headers that the service sends to sources, such as API keys. They are stored encrypted, apart from the
 * source, which has only their names, so that nothing that shows, exports or audits a source can show them.
 */
export interface RequestHeaders {
  /** Replaces the headers of a source, in the transaction of the operation. */
  store(operation: Operation, sourceId: string, headers: Headers): Promise<void>;
  /**
   * The headers of a source of a snapshot; after its first call, from memory.
   *
   * @throws Error when the source has headers that cannot be read, such as after the master key was lost.
   */
  read(accountId: string, source: ExternalSource): Promise<Headers>;
}

const none: Headers = {};

export function createRequestHeaders(
  database: Queries,
  box: SecretBox,
  clock: Pick<Clock, 'nowMs'>,
): RequestHeaders {
  // Every change of a source compiles a new snapshot, with a new object for the source.
  const cache = new WeakMap<ExternalSource, Promise<Headers>>();
  return {
    async store({ queries, scope }, sourceId, headers) {
      const key = [scope.accountId, purpose, sourceId];
      if (Object.keys(headers).length === 0) {
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
        [...key, box.seal(JSON.stringify(headers)), new Date(clock.nowMs())],
      );
    },
    read(accountId, source) {
      if ((source.request_header_names ?? []).length === 0) return Promise.resolve(none);
      const cached = cache.get(source);
      if (cached) return cached;
      const headers = readHeaders(database, box, accountId, source.id);
      cache.set(source, headers);
      headers.catch(() => cache.delete(source));
      return headers;
    },
  };
}

async function readHeaders(
  queries: Queries,
  box: SecretBox,
  accountId: string,
  sourceId: string,
): Promise<Headers> {
  const [row] = await queries.query<{ sealed: string }>(
    'SELECT sealed FROM secrets WHERE account_id = $1 AND purpose = $2 AND id = $3',
    [accountId, purpose, sourceId],
  );
  if (!row) {
    throw new Error(
      `The request headers of ${sourceId} are not in the database: set its request_headers again.`,
    );
  }
  return JSON.parse(box.open(row.sealed)) as Headers;
}

/**
 * Splits a request that creates or changes a source into the members to store and the headers, of which the members
 * have the names; `headers` is undefined if the request does not mention them. Pure.
 */
export function splitRequestHeaders(body: Members): { members: Members; headers?: Headers } {
  const { request_headers: given, ...members } = body;
  if (given === undefined) return { members };
  const headers = (given ?? none) as Headers;
  const names = Object.keys(headers).toSorted();
  return { members: { ...members, request_header_names: names }, headers };
}
