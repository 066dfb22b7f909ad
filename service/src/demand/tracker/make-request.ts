import { expandImpressionTime } from '../openrtb/notices.ts';
import { isTestSourceUrl } from '../test-source.ts';
import type { Client } from '../trackers.ts';
import { expandMacros, makeRequestMacros } from '../vast/macros.ts';
import { parseWebUrl } from '../web-url.ts';
import type { SecretBox } from '../../access/secret-box.ts';
import { requestBounded, linkSignal } from '../../platform/bounded-request.ts';
import { BlockedAddressError, type GuardedAgents } from '../../platform/guarded-agent.ts';
import type { Clock } from '../../platform/time.ts';
import { isUnavailable, type RequestEnd } from '../../platform/concurrency-window.ts';
import type { Scope } from '../../store/database.ts';
import type { DueRequest, Outcome, FailureReason } from './request-store.ts';

export interface RequestDeps {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random(): number;
  send: SendTracker;
  box: Pick<SecretBox, 'open'>;
  /** Whether a kill switch currently stops the ad. */
  isKilled(scope: Scope, ad: Pick<DueRequest, 'placement' | 'sourceId' | 'advertiserId'>): boolean;
  /** Whether the service runs in development mode, in which sandbox trackers may use loopback URLs. */
  development: boolean;
}

/** The result of a request. `unreached` means that no connection to the host was established. */
export interface Attempt {
  outcome: Outcome;
  /** What the request says about the host. */
  end: RequestEnd;
  unreached: boolean;
}

const userAgent = 'Trueward/1';

/** Makes a leased request, unless it is late, invalid or stopped by a kill switch. Never rejects. */
export async function makeRequest(
  deps: RequestDeps,
  due: DueRequest,
  stopping: AbortSignal,
): Promise<Attempt> {
  const { accountId, environment, url } = due;
  const createUnsentAttempt = (outcome: Outcome): Attempt => ({
    outcome,
    end: 'unknown',
    unreached: false,
  });
  if (due.isLate) return createUnsentAttempt({ state: 'late' });
  if (due.isInvalid) return createUnsentAttempt({ state: 'failed', reason: 'invalid_traffic' });
  if (deps.isKilled({ accountId, environment }, due))
    return createUnsentAttempt({ state: 'failed', reason: 'killed' });
  const client = readClient(deps.box, due.client);
  if (url === null || !client)
    return createUnsentAttempt({ state: 'failed', reason: 'unreadable' });
  const macroContext = { nowMs: deps.clock.nowMs(), random: deps.random() };
  const result = await deps.send(
    {
      url: expandImpressionTime(
        due.macros === null ? url : expandMacros(url, makeMacros(due, client), macroContext),
        due.servedAt?.getTime(),
      ),
      headers: buildHeaders(due, client),
      loopback: deps.development && environment === 'sandbox',
    },
    stopping,
  );
  const unreached = 'error' in result && !result.reached && result.error !== 'blocked_address';
  if ('error' in result && stopping.aborted)
    return createUnsentAttempt(createInterruptedOutcome(due));
  const outcome = decideOutcome(due, result, { unreached, random: deps.random() });
  return { outcome, end: judge(result), unreached };
}

/** Decrypts the client data. Returns undefined if decryption fails. */
function readClient(box: Pick<SecretBox, 'open'>, sealed: string | null): Client | undefined {
  if (sealed === null) return {};
  try {
    return JSON.parse(box.open(sealed)) as Client;
  } catch {
    return undefined;
  }
}

const makeMacros = ({ macros, limitAdTracking }: DueRequest, client: Client) => ({
  ...makeRequestMacros({
    player: { ...client, limitAdTracking: limitAdTracking ?? true, childDirected: false },
    serverUserAgent: userAgent,
  }),
  ...macros,
});

/** Returns headers with the player's IP and User-Agent, if the request has client data. */
function buildHeaders({ headerProfile }: DueRequest, client: Client): Record<string, string> {
  const ip = client.ip === undefined ? [] : [client.ip];
  const agent = client.userAgent === undefined ? [] : [removeUnprintable(client.userAgent)];
  const isForwarded = headerProfile === 'forwarded';
  return Object.fromEntries([
    ['user-agent', isForwarded ? (agent[0] ?? userAgent) : userAgent],
    ...ip.map((text) => [isForwarded ? 'x-forwarded-for' : 'x-device-ip', text]),
    ...(isForwarded ? [] : agent.map((text) => ['x-device-user-agent', text])),
  ]) as Record<string, string>;
}

function judge(result: SendResult): RequestEnd {
  if ('status' in result) return isUnavailable(result.status) ? 'failed' : 'ok';
  return result.error === 'blocked_address' ? 'unknown' : 'failed';
}

/** Removes characters that are not allowed in HTTP headers. */
const removeUnprintable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '');

/** Returns the outcome for a request that was aborted on shutdown. Another process may retry it immediately. */
const createInterruptedOutcome = ({ atLeastOnce }: DueRequest): Outcome =>
  atLeastOnce
    ? { state: 'pending', reached: true, delayMs: 0 }
    : { state: 'failed', reason: 'interrupted' };

interface OutcomeOptions {
  unreached: boolean;
  random: number;
}

/**
 * Returns the outcome of a request. A request that didn't reach its host is retried once the host has recovered. A
 * request that may have reached the host is retried only if it must be made at least once.
 */
function decideOutcome(
  { attempt, atLeastOnce }: DueRequest,
  result: SendResult,
  { unreached, random }: OutcomeOptions,
): Outcome {
  const status = 'status' in result ? { status: result.status } : {};
  if ('status' in result && result.status >= 200 && result.status < 300)
    return { state: 'sent', status: result.status };
  if (unreached) return { state: 'pending', reached: false, delayMs: 0 };
  const isBlocked = 'error' in result && result.error === 'blocked_address';
  if (atLeastOnce && !isBlocked)
    return { state: 'pending', reached: true, delayMs: retryDelayMs(attempt, random), ...status };
  return { state: 'failed', reason: 'error' in result ? result.error : 'status', ...status };
}

/** Returns the back-off delay: 1 s, 2 s, 4 s … up to five minutes, with ±20% jitter. */
const retryDelayMs = (attempt: number, random: number): number =>
  Math.round(Math.min(300_000, 1_000 * 2 ** Math.min(attempt - 1, 20)) * (0.8 + 0.4 * random));

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
  agents: GuardedAgents;
  /** Timeout for the request and its redirects. Default: 5 s. */
  timeoutMs?: number;
}

/** Maximum number of redirects. Trackers often redirect once. */
const maxRedirects = 3;
/**
 * Maximum number of bytes to read from the body. Reading the whole body keeps the connection reusable. A tracking pixel
 * is 43 bytes.
 */
const maxReadBytes = 65_536;

export function createTrackerSender({ agents, timeoutMs = 5_000 }: Deps): SendTracker {
  return async ({ url, headers, loopback }, signal) => {
    if (isTestSourceUrl(url)) return { status: 204 };
    const agent = loopback ? agents.development : agents.strict;
    const linkedSignal = linkSignal(signal, { timeoutMs });
    let reached = false;
    try {
      let nextUrl: string | undefined = parseWebUrl(url);
      let status = 0;
      for (let redirects = 0; nextUrl !== undefined && redirects <= maxRedirects; redirects += 1) {
        const currentUrl: string = nextUrl;
        // A truncated body is fine, because only the status and the `Location` header are used.
        const response = await requestBounded({
          url: currentUrl,
          headers,
          agent,
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
