import { createHmac } from 'node:crypto';
import type { StandardWebhookHeaders, WebhookSignatureHeaders } from 'trueward/server';
import { type Dispatcher, request } from 'undici';
import type { Clock } from '../platform/clock.ts';
import { linkSignal } from '../platform/link-signal.ts';

/** What one delivery needs to be made. */
export interface Parcel {
  url: string;
  /** Of the event: the same for each attempt. */
  id: string;
  body: string;
  secrets: readonly string[];
  /** More headers. */
  headers?: Readonly<Record<string, string>>;
  /** Whether the receiver may be this machine. */
  loopback: boolean;
}

/** How an attempt went; `status` is there when an answer came. */
export interface AttemptResult {
  startedAtMs: number;
  latencyMs: number;
  status?: number;
  error?: string;
  /** The first KiB of the answer. */
  response?: string;
  /** How long the endpoint asks to be left alone, by `Retry-After`; at most an hour. */
  retryAfterMs?: number;
  /** No request was made: it says nothing about the endpoint. */
  notSent?: true;
}

const keptBytes = 1_024;
/** What is read and discarded, so that the connection can be used again: a new one costs more than this. */
const readBytes = 65_536;

interface Parts {
  clock: Clock;
  /** The agents for the public internet, and for development. */
  agents: { strict: Dispatcher; development: Dispatcher };
  /** An answer that has not begun by then has failed (default 10 s). */
  timeoutMs?: number;
}

/** Signs a webhook and posts it; never rejects. Redirects are not followed. */
export type Send = (parcel: Parcel, signal: AbortSignal) => Promise<AttemptResult>;

export function createSender({ clock, agents, timeoutMs = 10_000 }: Parts): Send {
  return async ({ url, id, body, secrets, headers: more, loopback }, signal) => {
    const [startedAtMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
    const finish = (rest: Omit<AttemptResult, 'startedAtMs' | 'latencyMs'>): AttemptResult => ({
      startedAtMs,
      latencyMs: Math.round(clock.monotonicMs() - startedMs),
      ...rest,
    });
    // Nobody could tell an unsigned request from a forged one.
    if (secrets.length === 0)
      return finish({ error: 'the webhook has no secret that signs', notSent: true });
    const linked = linkSignal(signal, { timeoutMs });
    try {
      const timestampS = Math.floor(startedAtMs / 1_000);
      const answer = await request(url, {
        method: 'POST',
        headers: {
          ...more,
          'content-type': 'application/json',
          'user-agent': 'Trueward-Webhooks/1',
          ...signRequest({ id, body, secrets, timestampS }),
        },
        body,
        dispatcher: loopback ? agents.development : agents.strict,
        signal: linked.signal,
      });
      const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], clock.nowMs());
      return finish({
        status: answer.statusCode,
        response: await readStart(answer.body),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    } catch (error) {
      return finish({ error: describe(error, timeoutMs) });
    } finally {
      linked.release();
    }
  };
}

/**
 * Reads a bounded part, however long the answer claims to be. The status has come already, and
 * the receiver has said by it what it did: a body that breaks off or never ends changes nothing.
 */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk as Uint8Array);
      if (size < keptBytes) chunks.push(bytes);
      size += bytes.length;
      if (size >= readBytes) break;
    }
  } catch {
    // What came until then is kept.
  }
  body.destroy();
  // U+0000 cannot be stored as text.
  return Buffer.concat(chunks).subarray(0, keptBytes).toString('utf8').replaceAll('\0', '\ufffd');
}

const longestRetryAfterMs = 3_600_000;

/** Whole seconds, or an HTTP date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return delayMs > 0 ? Math.min(delayMs, longestRetryAfterMs) : undefined;
}

function describe(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`;
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message || error.name}${inner}`.slice(0, 500);
}

/** What a webhook request is signed with; each secret adds a signature. */
interface Signed {
  /** Of the event. */
  id: string;
  body: string;
  /** `whsec_` and base64. */
  secrets: readonly string[];
  timestampS: number;
}

/**
 * The same headers as `signWebhook` of `trueward/server`. That one runs wherever Web Crypto does; Node's own
 * HMAC needs no thread and no imported key, and takes a tenth of its time (8 µs instead of 100).
 */
export function signRequest({
  id,
  body,
  secrets,
  timestampS,
}: Signed): WebhookSignatureHeaders & StandardWebhookHeaders {
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
      .map((secret) => `v1,${sign(keyOf(secret), `${id}.${timestamp}.`, 'base64')}`)
      .join(' '),
  };
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');
