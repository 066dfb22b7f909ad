import type { Dispatcher } from 'undici';
import { isTestSourceUrl } from '../demand/test-source.ts';
import { parseWebUrl } from '../demand/web-url.ts';
import { requestBounded } from '../platform/bounded-request.ts';
import { linkSignal } from '../platform/link-signal.ts';
import { BlockedAddressError } from '../platform/guarded-agent.ts';
import type { FailureReason } from './request-store.ts';

/** A GET request to a tracker. */
export interface TrackerRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Whether loopback IPs are allowed. */
  loopback: boolean;
}

/** The status of the last response, or the error. */
export type SendResult =
  | { status: number }
  | {
      error: Extract<FailureReason, 'blocked_address' | 'timeout' | 'connection'>;
      /** Whether a server may have received the request. */
      reached: boolean;
    };

/** Requests a URL and follows its redirects. Never rejects. */
export type SendTracker = (request: TrackerRequest, signal: AbortSignal) => Promise<SendResult>;

interface Deps {
  /** `strict` connects only to public IPs. `development` also connects to loopback IPs. */
  agents: { strict: Dispatcher; development: Dispatcher };
  /** Timeout for the request and its redirects. Default: 5 s. */
  timeoutMs?: number;
}

/** Maximum number of redirects. Trackers often redirect once. */
const maxRedirects = 3;
/** Maximum number of bytes to read, to keep the connection reusable. A tracking pixel is 43 bytes. */
const maxReadBytes = 65_536;

export function createTrackerSender({ agents, timeoutMs = 5_000 }: Deps): SendTracker {
  return async ({ url, headers, loopback }, signal) => {
    if (isTestSourceUrl(url)) return { status: 204 };
    const dispatcher = loopback ? agents.development : agents.strict;
    const linkedSignal = linkSignal(signal, { timeoutMs });
    let reached = false;
    try {
      let nextUrl: string | undefined = parseWebUrl(url);
      let status = 0;
      for (let redirects = 0; nextUrl !== undefined && redirects <= maxRedirects; redirects += 1) {
        const currentUrl: string = nextUrl;
        // The body may be incomplete, because only the status and the location are used.
        const response = await requestBounded({
          url: currentUrl,
          headers,
          dispatcher,
          signal: linkedSignal.signal,
          maxBytes: maxReadBytes,
          keepBytes: 0,
          onStart: () => (reached = true),
        });
        status = response.status;
        const { location } = response.headers;
        const isRedirect = status >= 300 && status < 400 && typeof location === 'string';
        nextUrl = isRedirect ? parseWebUrl(location, currentUrl) : undefined;
      }
      return reached ? { status } : { error: 'connection', reached };
    } catch (error) {
      return { error: classifyError(error), reached };
    } finally {
      linkedSignal.release();
    }
  };
}

function classifyError(error: unknown): 'blocked_address' | 'timeout' | 'connection' {
  if (error instanceof BlockedAddressError) return 'blocked_address';
  return error instanceof Error && /Timeout/.test(error.name) ? 'timeout' : 'connection';
}
