import { createHmac } from 'node:crypto';
import type { StandardWebhookHeaders, WebhookSignatureHeaders } from 'trueward/server';
import { requestBounded } from '../platform/bounded-request.ts';
import type { GuardedAgents } from '../platform/guarded-agent.ts';
import type { Clock } from '../platform/time.ts';

/** A request to a webhook endpoint. */
export interface DeliveryRequest {
  url: string;
  /** The event id, which is the same for all attempts. */
  id: string;
  body: string;
  secrets: readonly string[];
  /** Additional headers. */
  headers?: Readonly<Record<string, string>>;
  /** Whether loopback IPs are allowed. */
  loopback: boolean;
}

/** The result of an attempt. `status` is set if there was a response. */
export interface AttemptResult {
  startedAtMs: number;
  latencyMs: number;
  status?: number;
  error?: string;
  /** The first KiB of the response body. */
  response?: string;
  /** The endpoint's `Retry-After`, capped at an hour. */
  retryAfterMs?: number;
  /** Set if no request was sent. The result then says nothing about the endpoint. */
  notSent?: true;
}

const maxStoredBytes = 1_024;
/** Maximum number of bytes to read from a response. The connection can be reused only if the response is shorter. */
const maxReadBytes = 65_536;

interface Deps {
  clock: Clock;
  agents: GuardedAgents;
  /** Timeout for the request (default 10 s). */
  timeoutMs?: number;
}

/** Signs and posts a webhook event. Never rejects. Does not follow redirects. */
export type Send = (request: DeliveryRequest, signal: AbortSignal) => Promise<AttemptResult>;

export function createSender({ clock, agents, timeoutMs = 10_000 }: Deps): Send {
  return async ({ url, id, body, secrets, headers: extraHeaders, loopback }, signal) => {
    const [startedAtMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
    const createResult = (
      outcome: Omit<AttemptResult, 'startedAtMs' | 'latencyMs'>,
    ): AttemptResult => ({
      startedAtMs,
      latencyMs: Math.round(clock.monotonicMs() - startedMs),
      ...outcome,
    });
    // Receivers can't distinguish an unsigned request from a forged one.
    if (secrets.length === 0)
      return createResult({ error: 'the webhook has no active signing secret', notSent: true });
    try {
      const timestampS = Math.floor(startedAtMs / 1_000);
      const response = await requestBounded({
        url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Trueward-Webhooks/1',
          ...extraHeaders,
          ...signRequest({ id, body, secrets, timestampS }),
        },
        body,
        agent: loopback ? agents.development : agents.strict,
        signal,
        timeoutMs,
        maxBytes: maxReadBytes,
        keepBytes: maxStoredBytes,
      });
      const retryAfterMs = parseRetryAfter(response.headers['retry-after'], clock.nowMs());
      // A truncated body is fine, because only the status determines the outcome.
      return createResult({
        status: response.status,
        // PostgreSQL can't store U+0000 in text.
        response: response.body.toString('utf8').replaceAll('\0', '\ufffd'),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    } catch (error) {
      return createResult({ error: describeError(error, timeoutMs) });
    }
  };
}

const maxRetryAfterMs = 3_600_000;

/** Parses a number of seconds or an HTTP date (RFC 9110, section 10.2.3). Returns the delay. */
function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return delayMs > 0 ? Math.min(delayMs, maxRetryAfterMs) : undefined;
}

function describeError(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1_000} s`;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message || error.name}${cause}`.slice(0, 500);
}

/** The signed parts of a request, and the secrets. Each secret produces one signature. */
interface SigningInput {
  /** The id of the event. */
  id: string;
  body: string;
  /** `whsec_` followed by base64. */
  secrets: readonly string[];
  timestampS: number;
}

/**
 * Returns the same headers as `signWebhook` from `trueward/server`, but uses Node's HMAC instead of Web Crypto. It
 * takes 8 µs instead of 100 µs, because it involves no thread pool and no key import.
 */
export function signRequest({
  id,
  body,
  secrets,
  timestampS,
}: SigningInput): WebhookSignatureHeaders & StandardWebhookHeaders {
  const timestamp = String(timestampS);
  const sign = (key: string | Buffer, prefix: string, encoding: 'hex' | 'base64'): string =>
    createHmac('sha256', key).update(prefix).update(body).digest(encoding);
  return {
    'service-timestamp': timestamp,
    'service-signature': secrets
      .map((secret) => `v1=${sign(secret, `${timestamp}.`, 'hex')}`)
      .join(','),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .map((secret) => `v1,${sign(decodeSecret(secret), `${id}.${timestamp}.`, 'base64')}`)
      .join(' '),
  };
}

const decodeSecret = (secret: string): Buffer =>
  Buffer.from(secret.slice('whsec_'.length), 'base64');
