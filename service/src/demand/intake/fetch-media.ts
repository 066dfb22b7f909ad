import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testAd } from '../test-source.ts';
import { parseWebUrl } from '../web-url.ts';
import {
  type BoundedResponse,
  BodyTooLargeError,
  linkSignal,
  requestBounded,
} from '../../platform/bounded-request.ts';
import { findUrlProblem, type GuardedAgents } from '../../platform/guarded-agent.ts';

/** Why an offer was rejected. Used as a metric label. */
export type RejectionReason =
  'unreachable' | 'too_large' | 'unsupported' | 'unknown_advertiser' | 'invalid_id' | 'no_room';

/** Thrown when an external source's offer cannot be used. The message explains why. */
export class RejectedError extends Error {
  readonly reason: RejectionReason;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  constructor(reason: RejectionReason, message: string, isTransient = false) {
    super(message);
    this.name = 'RejectedError';
    this.reason = reason;
    this.isTransient = isTransient;
  }
}

interface MediaRequest {
  url: string;
  maxBytes: number;
  /** Whether http and loopback IPs are allowed, for development. */
  loopback: boolean;
}

export interface FetchedFile {
  body: Buffer;
  /** The hex-encoded hash. */
  sha256: string;
}

/** @throws RejectedError when the file cannot be fetched within the limits. */
export type FetchMedia = (request: MediaRequest, signal: AbortSignal) => Promise<FetchedFile>;

interface Deps {
  agents: GuardedAgents;
  /** Timeout for a file, including redirects (default 30 s). */
  timeoutMs?: number;
}

const maxRedirects = 3;

/** Creates a function that fetches files from public IPs only, with limits on size, time and redirects. */
export function createFetchMedia({ agents, timeoutMs = 30_000 }: Deps): FetchMedia {
  return async ({ url, maxBytes, loopback }, signal) => {
    const linkedSignal = linkSignal(signal, { timeoutMs });
    const agent = loopback ? agents.development : agents.strict;
    try {
      let currentUrl = url;
      for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
        const problem = findUrlProblem(currentUrl, { development: loopback });
        if (problem !== undefined)
          throw new RejectedError('unreachable', `The URL ${truncate(currentUrl)} ${problem}.`);
        // Hashes each chunk as it arrives, because hashing 20 MB in one call would block the process for 25 ms.
        const hash = createHash('sha256');
        const response = await requestBounded({
          url: currentUrl,
          agent,
          signal: linkedSignal.signal,
          // Requests an uncompressed body, because it is hashed and stored unchanged.
          headers: { 'accept-encoding': 'identity', 'user-agent': 'Trueward-Intake/1' },
          maxBytes,
          wantsBody: ({ status, headers }) => status === 200 && readLength(headers) <= maxBytes,
          onData: (chunk) => void hash.update(chunk),
        });
        const target = findRedirect(response, currentUrl);
        if (target === undefined)
          return { body: checkBody(response, currentUrl, maxBytes), sha256: hash.digest('hex') };
        currentUrl = target;
      }
      throw new RejectedError(
        'unreachable',
        `${truncate(url)} redirects more than ${maxRedirects} times.`,
      );
    } catch (error) {
      if (error instanceof RejectedError) throw error;
      throw new RejectedError(
        'unreachable',
        `${truncate(url)} ${describeError(error, timeoutMs)}.`,
        true,
      );
    } finally {
      linkedSignal.release();
    }
  };
}

/** Reads the built-in test source's video from `mediaDirectory`. Fetches all other files with `fetchMedia`. */
export const withTestAd =
  (fetchMedia: FetchMedia, mediaDirectory: string): FetchMedia =>
  async (media, signal) => {
    if (media.url !== testAd.mediaUrl) return fetchMedia(media, signal);
    const file = join(mediaDirectory, testAd.file);
    try {
      const body = await readFile(file, { signal });
      return { body, sha256: createHash('sha256').update(body).digest('hex') };
    } catch (error) {
      throw new RejectedError(
        'unreachable',
        `The test ad cannot be read: ${(error as Error).message}`,
        true,
      );
    }
  };

function findRedirect({ status, headers }: BoundedResponse, from: string): string | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const target = parseWebUrl(location, from);
  if (target !== undefined) return target;
  throw new RejectedError(
    'unreachable',
    `${truncate(from)} redirects to ${truncate(location)}, which is not a web URL.`,
  );
}

const readLength = (headers: BoundedResponse['headers']): number =>
  Number(headers['content-length'] ?? 0);

/** @throws RejectedError when the response is not a complete file within the limit. */
function checkBody(
  { status, headers, body, bodyError }: BoundedResponse,
  url: string,
  maxBytes: number,
): Buffer {
  if (status !== 200)
    throw new RejectedError(
      'unreachable',
      `${truncate(url)} responded ${status}; expected 200.`,
      status >= 500 || status === 429,
    );
  if (bodyError instanceof BodyTooLargeError || readLength(headers) > maxBytes)
    throw new RejectedError('too_large', `${truncate(url)} is larger than ${maxBytes} bytes.`);
  if (bodyError) throw bodyError;
  return body;
}

const truncate = (url: string): string => url.slice(0, 200);

function describeError(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return `failed: ${String(error)}`;
  if (error.name === 'TimeoutError') return `took more than ${timeoutMs / 1_000} s`;
  return `could not be fetched: ${error.message || error.name}`.slice(0, 300);
}
