import type { SecretBox } from '../access/secret-box.ts';
import { throwFieldErrors } from '../platform/domain-error.ts';
import type { Clock } from '../platform/time.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';
import type { ExternalSource } from './resource.ts';

const purpose = 'source_headers';

type Headers = Readonly<Record<string, string>>;
type Members = Record<string, unknown>;

/**
 * Stores the HTTP headers that the service sends to sources. The values can be API keys, so they are encrypted and
 * stored separately. Source documents contain only header names. Responses, exports and audit records therefore never
 * contain the values.
 */
export interface RequestHeaders {
  /** Replaces a source's headers in the operation's transaction. */
  store(operation: Operation, sourceId: string, headers: Headers): Promise<void>;
  /**
   * Reads a source's headers and caches them in memory.
   *
   * @throws Error when the headers cannot be read, for example because the master key was lost.
   */
  read(accountId: string, source: ExternalSource): Promise<Headers>;
}

const noHeaders: Headers = {};

export function createRequestHeaders(
  database: Queries,
  box: SecretBox,
  clock: Pick<Clock, 'nowMs'>,
): RequestHeaders {
  // The cache never returns stale headers, because each configuration change creates a snapshot with new objects.
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
      if ((source.request_header_names ?? []).length === 0) return Promise.resolve(noHeaders);
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
      `The request headers for ${sourceId} do not exist in the database. Set its request_headers again.`,
    );
  }
  return JSON.parse(box.open(row.sealed)) as Headers;
}

/**
 * Splits a source's request body into the headers and the members to store. The stored members include the header
 * names. `headers` is undefined if the body has no `request_headers`.
 */
export function splitRequestHeaders(body: Members): { members: Members; headers?: Headers } {
  const { request_headers: requestHeaders, ...members } = body;
  if (requestHeaders === undefined) return { members };
  const headers = (requestHeaders ?? noHeaders) as Headers;
  const names = Object.keys(headers).toSorted();
  return { members: { ...members, request_header_names: names }, headers };
}

interface Addresses {
  tag_url?: string;
  endpoint_url?: string;
  request_header_names?: readonly string[];
}

/**
 * Rejects a change that would send a source's stored headers to another server. Their values are not returned to anybody,
 * and nobody may read them by having them sent elsewhere.
 *
 * @throws DomainError `invalid_request`
 */
export function checkHeadersStay(before: Addresses, after: Addresses): void {
  const hasHeaders = (after.request_header_names ?? []).length > 0;
  if (!hasHeaders || findOrigin(before) === findOrigin(after)) return;
  const message = `must be sent again, because the source's address changes from ${findOrigin(before)} to ${findOrigin(after)}`;
  throwFieldErrors([{ pointer: '/request_headers', message }]);
}

/** A URL that isn't valid is reported by the checks of the document. */
const findOrigin = ({ tag_url: tag, endpoint_url: endpoint }: Addresses): string | undefined => {
  const url = tag ?? endpoint ?? '';
  return URL.canParse(url) ? new URL(url).origin : undefined;
};
