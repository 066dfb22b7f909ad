import type { SecretBox } from '../key/secret-box.ts';
import type { Clock } from '../platform/clock.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';
import type { ExternalSource } from './external-source.ts';

const purpose = 'source_headers';

type Headers = Readonly<Record<string, string>>;
type Members = Record<string, unknown>;

/**
 * Stores the HTTP headers that the service sends to sources, such as API keys. The values are encrypted and stored
 * separately, and the source contains only the headers' names. They therefore never appear in responses, exports or
 * audit records.
 */
export interface RequestHeaders {
  /** Replaces a source's headers, in the operation's transaction. */
  store(operation: Operation, sourceId: string, headers: Headers): Promise<void>;
  /**
   * Reads the headers of a source in a snapshot, and caches them in memory.
   *
   * @throws Error when the source's headers cannot be read, for example after the master key was lost.
   */
  read(accountId: string, source: ExternalSource): Promise<Headers>;
}

const none: Headers = {};

export function createRequestHeaders(
  database: Queries,
  box: SecretBox,
  clock: Pick<Clock, 'nowMs'>,
): RequestHeaders {
  // The cache never returns the headers from before a change, because every change compiles a snapshot with new source
  // objects.
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
 * Splits the body of a request that creates or changes a source into the headers and the members to store. The members
 * include the headers' names. If the request contains no headers, `headers` is undefined.
 */
export function splitRequestHeaders(body: Members): { members: Members; headers?: Headers } {
  const { request_headers: given, ...members } = body;
  if (given === undefined) return { members };
  const headers = (given ?? none) as Headers;
  const names = Object.keys(headers).toSorted();
  return { members: { ...members, request_header_names: names }, headers };
}
