import type { WebhookEvent } from '../../protocol/wire.ts';
import { type EvidenceOptions, describeEvidenceProblem, isEvidenceAccepted } from './evidence.ts';
import {
  type RawBody,
  serviceScheme,
  type SignatureScheme,
  toSignedBytes,
  importSigningKeys,
  standardScheme,
  WebhookError,
} from './webhook-signature.ts';

/** Request headers: a `Headers` object, or a plain record such as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions extends EvidenceOptions {
  /** How far the timestamp may be in the past or future, in seconds. Default: 300. */
  toleranceS?: number;
  /** Returns the current time in milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: () => number;
}

/**
 * Verifies that the service sent a webhook request recently and that the request was not modified. Returns the event.
 * Uses the `Service-…` headers if there are any, otherwise the Standard Webhooks headers. Signatures are compared in
 * constant time. An event may arrive more than once: process each `event.id` once, and respond with 2xx quickly.
 *
 * @param rawBody - the unparsed body, because the signature covers its bytes.
 * @param secret - this endpoint’s `whsec_…` secret, or several secrets during a rotation.
 * @throws WebhookError with a `code` that says why the request was rejected.
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 * if (event.type === 'decision.rewarded') await creditOnce(event.data.decision_id, event.data.reward);
 */
export async function verifyWebhook(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const { toleranceS = 300, now = Date.now } = options;
  const { scheme, timestamp, prefix, signatures } = readSignedHeaders(headers);
  const bytes = toSignedBytes(prefix, rawBody);
  const keys = await importSigningKeys(secret, scheme);
  const results = await Promise.all(
    keys.flatMap((key) =>
      signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, bytes)),
    ),
  );
  if (!results.includes(true)) {
    throw new WebhookError(
      'mismatch',
      'No signature matches this body and secret. Either the body was modified (parsed and serialized again, or ' +
        'decoded with a different encoding), or the secret belongs to a different webhook or environment.',
    );
  }
  // The timestamp is checked after the signature, so `too_old` and `too_new` never refer to a forged timestamp.
  checkAge(now() / 1000 - Number(timestamp), toleranceS);
  const event = parseEvent(rawBody);
  if (event.type !== 'decision.rewarded' || isEvidenceAccepted(event.data.evidence, options))
    return event;
  throw new WebhookError('evidence_not_accepted', describeEvidenceProblem(event.data.evidence));
}

interface SignedHeaders {
  scheme: SignatureScheme;
  timestamp: string;
  /** The signed text that precedes the raw body. */
  prefix: string;
  signatures: Uint8Array<ArrayBuffer>[];
}

function readSignedHeaders(headers: WebhookHeaders): SignedHeaders {
  const hasHeader = (name: string) => Boolean(findHeader(headers, name));
  if (!hasHeader('service-signature') && hasHeader('webhook-signature')) {
    const id = readHeader(headers, 'webhook-id');
    const timestamp = readTimestamp(headers, 'webhook-timestamp');
    const signatures = readSignatures(headers, 'webhook-signature', standardScheme);
    return { scheme: standardScheme, timestamp, prefix: `${id}.${timestamp}.`, signatures };
  }
  const timestamp = readTimestamp(headers, 'service-timestamp');
  const signatures = readSignatures(headers, 'service-signature', serviceScheme);
  return { scheme: serviceScheme, timestamp, prefix: `${timestamp}.`, signatures };
}

function readTimestamp(headers: WebhookHeaders, name: string): string {
  const timestamp = readHeader(headers, name);
  if (/^\d+$/.test(timestamp)) return timestamp;
  throw new WebhookError(
    'headers_missing',
    `Expected Unix seconds in the ${name} header, got ${JSON.stringify(timestamp.slice(0, 40))}.`,
  );
}

/** Reads the well-formed version 1 signatures. Other versions are ignored. */
function readSignatures(
  headers: WebhookHeaders,
  name: string,
  { separator, read }: SignatureScheme,
): Uint8Array<ArrayBuffer>[] {
  const header = readHeader(headers, name);
  const signatures = header.split(separator).flatMap((part) => read(part.trim()) ?? []);
  // The number of signatures is bounded, so that a forged header cannot cause unbounded work. A rotation never needs
  // this many.
  if (signatures.length > 0) return signatures.slice(0, 10);
  const expected = separator === ',' ? 'v1=<64 hexadecimal digits>' : 'v1,<base64 of 32 bytes>';
  throw new WebhookError(
    'no_v1',
    `Expected ${expected} in the ${name} header, got ${JSON.stringify(header.slice(0, 80))}.`,
  );
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookError(
    'headers_missing',
    `The ${name} header is missing: the request is not a webhook from the service, a proxy removed the header, ` +
      'or the `headers` argument is not the request headers.',
  );
}

function findHeader(headers: WebhookHeaders, name: string): unknown {
  if (typeof headers?.get === 'function') return headers.get(name);
  const value = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(value) ? value.join(',') : value;
}

/**
 * Rejects a request that is too old or too new. The comparisons are negated, so that a NaN tolerance rejects every
 * request.
 */
function checkAge(ageS: number, toleranceS: number): void {
  if (!(ageS <= toleranceS)) {
    throw new WebhookError(
      'too_old',
      `The request was signed ${Math.round(ageS)} s ago; the tolerance is ${toleranceS} s. ` +
        "It is a replay, it waited in a queue before verification, or this server's clock is fast.",
    );
  }
  if (!(-ageS <= toleranceS)) {
    throw new WebhookError(
      'too_new',
      `The request was signed ${Math.round(-ageS)} s in the future; the tolerance is ${toleranceS} s. ` +
        "This server's clock is probably slow.",
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
    throw new WebhookError('body_not_json', notAnEventMessage, { cause });
  }
  throw new WebhookError('body_not_json', notAnEventMessage);
}

const notAnEventMessage =
  'The signature is valid, but the body is not a JSON event (an object with id, type and data): ' +
  'check what was signed.';

function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, data } = value as Record<string, unknown>;
  return (
    typeof id === 'string' && typeof type === 'string' && typeof data === 'object' && data !== null
  );
}
