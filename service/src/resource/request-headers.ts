import type { SecretBox } from '../access/secret-box.ts';
import { throwFieldErrors } from '../platform/domain-error.ts';
import type { Clock } from '../platform/time.ts';
import type { Operation } from '../store/audit-log.ts';
import type { Queries } from '../store/database.ts';
import type { ExternalSource } from './resource.ts';
import { createSourceSecrets } from './source-secrets.ts';

type Headers = Readonly<Record<string, string>>;
type Members = Record<string, unknown>;

/**
 * Stores the HTTP headers that the service sends to sources. The values can be API keys, so they are secret. Source
 * documents contain only header names.
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
  const secrets = createSourceSecrets<Headers>(
    { database, box, clock },
    'source_headers',
    'request_headers',
  );
  return {
    store: (operation, sourceId, headers) =>
      secrets.store(operation, sourceId, Object.keys(headers).length > 0 ? headers : undefined),
    read: (accountId, source) =>
      (source.request_header_names ?? []).length > 0
        ? secrets.read(accountId, source)
        : Promise.resolve(noHeaders),
  };
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
