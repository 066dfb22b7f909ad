import { requestBounded } from '../../platform/bounded-request.ts';
import { findUrlProblem, type GuardedAgents } from '../../platform/guarded-agent.ts';
import { decodeText } from '../decode-text.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** A request to an external source. */
export interface ExternalRequest {
  sourceId: string;
  url: string;
  /** Body of a POST request; absent for GET. */
  body?: string;
  headers: Readonly<Record<string, string>>;
  /** Headers that are sent only to `url`'s host, even after redirects. */
  credentials?: Readonly<Record<string, string>>;
  /** Whether http URLs and loopback IPs are allowed, for development. */
  loopback: boolean;
  sandbox: boolean;
  /** Aborts at the source's deadline. */
  signal: AbortSignal;
}

export type ExternalResponse =
  | {
      status: 'ok';
      httpStatus: number;
      text: string;
      /** Final URL after redirects. */
      url: string;
    }
  | {
      status: 'failed';
      reason: string;
      kind: 'circuit_open' | 'timeout' | 'error';
      httpStatus?: number;
    };

/** Requests a document from an external source. Never rejects. */
export type RequestExternal = (request: ExternalRequest) => Promise<ExternalResponse>;

interface Deps {
  agents: GuardedAgents;
  breaker: CircuitBreaker;
}

const maxRedirects = 3;
/** Maximum document size in bytes. */
const maxBytes = 262_144;

/** Thrown when a response cannot be used. */
class UnusableError extends Error {
  readonly httpStatus: number | undefined;
  constructor(reason: string, httpStatus?: number) {
    super(reason);
    this.httpStatus = httpStatus;
  }
}

/** Requests documents within size and time limits. Connects only to public IPs, even after redirects. */
export function createRequestExternal({ agents, breaker }: Deps): RequestExternal {
  const followRedirects = async (request: ExternalRequest): Promise<ExternalResponse> => {
    let { url } = request;
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const problem = findUrlProblem(url, { development: request.loopback });
      if (problem !== undefined) throw new UnusableError(`The URL ${truncate(url)} ${problem}.`);
      const { host } = new URL(url);
      if (!breaker.allows(request.sourceId, host)) {
        return { status: 'failed', kind: 'circuit_open', reason: `${host} has failed repeatedly.` };
      }
      const response = await send(request, url).catch((error: unknown) => {
        breaker.record(request.sourceId, host, false);
        throw error;
      });
      breaker.record(request.sourceId, host, response.httpStatus < 500);
      if (response.location === undefined) return toExternalResponse(response, url);
      if (request.body !== undefined)
        throw new UnusableError(
          'The bidder redirected the bid request; expected a bid response.',
          response.httpStatus,
        );
      url = new URL(response.location, url).href;
    }
    throw new UnusableError(`${truncate(request.url)} redirects more than ${maxRedirects} times.`);
  };

  const send = async (request: ExternalRequest, url: string): Promise<ReceivedResponse> => {
    const isSameHost = url === request.url || new URL(url).host === new URL(request.url).host;
    const credentials = isSameHost ? request.credentials : {};
    const { status, headers, body, bodyError } = await requestBounded({
      url,
      method: request.body === undefined ? 'GET' : 'POST',
      // Requests an uncompressed body. If compression were allowed, the decompressed size would need a limit too.
      headers: Object.assign({}, request.headers, credentials, { 'accept-encoding': 'identity' }),
      ...(request.body === undefined ? {} : { body: request.body }),
      agent: request.loopback ? agents.development : agents.strict,
      signal: request.signal,
      maxBytes,
    });
    // A redirect is followed even if its body is incomplete, but not after the deadline.
    request.signal.throwIfAborted();
    const location = redirectStatuses.has(status) ? readHeader(headers['location']) : undefined;
    if (location !== undefined) return { httpStatus: status, location, text: '' };
    // A response without a body has no encoding, whatever its headers say.
    if (status === 204) return { httpStatus: status, text: '' };
    const encoding = readHeader(headers['content-encoding']) ?? 'identity';
    if (encoding.trim().toLowerCase() !== 'identity' && encoding.trim() !== '')
      throw new UnusableError(
        `The response is compressed (${truncate(encoding)}); expected the identity encoding.`,
      );
    if (bodyError) throw bodyError;
    const text = decodeText(body, readHeader(headers['content-type']));
    if (text === undefined)
      throw new UnusableError('The response is not in the encoding that it declares.', status);
    return { httpStatus: status, text };
  };

  return async (request) => {
    try {
      return await followRedirects(request);
    } catch (error) {
      if (request.signal.aborted)
        return { status: 'failed', kind: 'timeout', reason: 'The request timed out.' };
      const { httpStatus } = error instanceof UnusableError ? error : {};
      const reason = error instanceof Error ? error.message || error.name : String(error);
      return {
        status: 'failed',
        kind: 'error',
        reason: reason.slice(0, 300),
        ...(httpStatus === undefined ? {} : { httpStatus }),
      };
    }
  };
}

interface ReceivedResponse {
  httpStatus: number;
  text: string;
  /** Set for a redirect. */
  location?: string;
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function toExternalResponse({ httpStatus, text }: ReceivedResponse, url: string): ExternalResponse {
  if (httpStatus === 200 || httpStatus === 204) return { status: 'ok', httpStatus, text, url };
  throw new UnusableError(
    `The response has status ${httpStatus}; expected 200 or 204.`,
    httpStatus,
  );
}

const readHeader = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

const truncate = (text: string): string => text.slice(0, 200);
