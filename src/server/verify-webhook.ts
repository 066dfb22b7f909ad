import type { WebhookEvent } from '../../protocol/wire.ts';
import {
  type RawBody,
  serviceScheme,
  type SignatureScheme,
  signedBytes,
  signingKeys,
  standardScheme,
  WebhookError,
} from './webhook-signature.ts';

/** Request headers: a `Headers` object, or a plain record such as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** How far the timestamp may lie in the past or in the future, in seconds. Default 300. */
  toleranceS?: number;
  /** The present, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/**
 * Checks that a webhook request came from the service, unchanged and just now, and gives its event.
 * Signatures are compared in constant time. Without the `Service-…` headers, those of Standard Webhooks
 * are verified. The same event can arrive more than once: process each
 * `event.id` once, and answer 2xx quickly.
 *
 * @param rawBody - the body before any parsing: what is signed is its bytes.
 * @param secret - the `whsec_…` secret of this endpoint, or several while one is being rotated.
 * @throws WebhookError with a `code` for each reason to refuse the request.
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 * if (event.type === 'decision.rewarded') await creditOnce(event.data.decision_id, event.data.reward);
 */
export async function verifyWebhook(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceS = 300, now = Date.now }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const { scheme, timestamp, before, signatures } = readClaim(headers);
  const bytes = signedBytes(before, rawBody);
  const keys = await signingKeys(secret, scheme);
  const matches = await Promise.all(
    keys.flatMap((key) =>
      signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, bytes)),
    ),
  );
  if (!matches.includes(true)) {
    throw new WebhookError(
      'mismatch',
      'No signature matches this body and secret. Either the body is not byte for byte what was received ' +
        '(parsed and serialised again, another encoding), or the secret belongs to another webhook or environment.',
    );
  }
  // After the signature, so that these two say something about the sender's clock and not about a forger's.
  checkAge(now() / 1000 - Number(timestamp), toleranceS);
  return parseEvent(rawBody);
}

/** What the headers claim: these signatures, over `before` and the raw body. */
interface Claim {
  scheme: SignatureScheme;
  timestamp: string;
  before: string;
  signatures: Uint8Array<ArrayBuffer>[];
}

function readClaim(headers: WebhookHeaders): Claim {
  const has = (name: string) => Boolean(headerValue(headers, name));
  if (!has('service-signature') && has('webhook-signature')) {
    const id = readHeader(headers, 'webhook-id');
    const timestamp = readTimestamp(headers, 'webhook-timestamp');
    const signatures = readSignatures(headers, 'webhook-signature', standardScheme);
    return { scheme: standardScheme, timestamp, before: `${id}.${timestamp}.`, signatures };
  }
  const timestamp = readTimestamp(headers, 'service-timestamp');
  const signatures = readSignatures(headers, 'service-signature', serviceScheme);
  return { scheme: serviceScheme, timestamp, before: `${timestamp}.`, signatures };
}

function readTimestamp(headers: WebhookHeaders, name: string): string {
  const timestamp = readHeader(headers, name);
  if (/^\d+$/.test(timestamp)) return timestamp;
  throw new WebhookError(
    'headers_missing',
    `Expected unix seconds in the header ${name}, got ${JSON.stringify(timestamp.slice(0, 40))}.`,
  );
}

/** The signatures of version 1, well-formed ones only; other versions are for later receivers. */
function readSignatures(
  headers: WebhookHeaders,
  name: string,
  { separator, read }: SignatureScheme,
): Uint8Array<ArrayBuffer>[] {
  const header = readHeader(headers, name);
  const signatures = header.split(separator).flatMap((part) => read(part.trim()) ?? []);
  // More signatures than a rotation can have would only make this server compute.
  if (signatures.length > 0) return signatures.slice(0, 10);
  const expected = separator === ',' ? 'v1=<64 hexadecimal digits>' : 'v1,<base64 of 32 bytes>';
  throw new WebhookError(
    'no_v1',
    `Expected ${expected} in the header ${name}, got ${JSON.stringify(header.slice(0, 80))}.`,
  );
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = headerValue(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookError(
    'headers_missing',
    `The header ${name} is missing: either this request is no webhook of the service, or a proxy removed it, ` +
      'or something other than the headers of the request was passed.',
  );
}

function headerValue(headers: WebhookHeaders, name: string): unknown {
  if (typeof headers?.get === 'function') return headers.get(name);
  const found = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(found) ? found.join(',') : found;
}

/** Written so that a tolerance that is not a number refuses everything. */
function checkAge(ageS: number, toleranceS: number): void {
  if (!(ageS <= toleranceS)) {
    throw new WebhookError(
      'too_old',
      `The request was signed ${Math.round(ageS)} s ago; the tolerance is ${toleranceS} s. ` +
        'Either it is being replayed, or the clock of this server is fast, or verification waited in a queue.',
    );
  }
  if (!(-ageS <= toleranceS)) {
    throw new WebhookError(
      'too_new',
      `The request was signed ${Math.round(-ageS)} s in the future; the tolerance is ${toleranceS} s. ` +
        'The clock of this server is probably slow.',
    );
  }
}

function parseEvent(rawBody: RawBody): WebhookEvent {
  try {
    const text =
      typeof rawBody === 'string'
        ? rawBody
        : new TextDecoder('utf-8', { fatal: true }).decode(rawBody);
    const event: unknown = JSON.parse(text);
    if (isEvent(event)) return event;
  } catch (cause) {
    throw new WebhookError('body_not_json', notAnEvent, { cause });
  }
  throw new WebhookError('body_not_json', notAnEvent);
}

const notAnEvent =
  'The signature is right, but the body is not the JSON of an event (an object with id, type and data): ' +
  'check what was signed.';

function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, data } = value as Record<string, unknown>;
  return (
    typeof id === 'string' && typeof type === 'string' && typeof data === 'object' && data !== null
  );
}
