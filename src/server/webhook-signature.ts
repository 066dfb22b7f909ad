import { WebhookError } from './webhook-error.ts';

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** The body as it came over the wire: text, or bytes (a Node `Buffer` is a `Uint8Array`). */
export type RawBody = string | Uint8Array;

/**
 * The bytes that are signed: `<timestamp>.<raw body>`.
 *
 * @throws WebhookError `body_not_raw` when the body was parsed before.
 */
export function signedBytes(timestamp: string, rawBody: RawBody): Uint8Array<ArrayBuffer> {
  const prefix = new TextEncoder().encode(`${timestamp}.`);
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  if (!(body instanceof Uint8Array)) {
    throw new WebhookError(
      'body_not_raw',
      `Expected the raw request body as a string or Uint8Array, got ${kindOf(rawBody)}. ` +
        'The body was probably parsed before: verify first (Express: `express.raw({ type: "application/json" })`, ' +
        'fetch handlers: `await request.text()`), then use the event that `verifyWebhook` returns.',
    );
  }
  const bytes = new Uint8Array(prefix.length + body.length);
  bytes.set(prefix);
  bytes.set(body, prefix.length);
  return bytes;
}

/**
 * The keys of one signing secret or of several. The whole `whsec_…` text is the key, nothing is decoded.
 *
 * @throws WebhookError `secret_wrong_kind` for anything but webhook signing secrets.
 */
export async function signingKeys(secret: string | readonly string[]): Promise<CryptoKey[]> {
  const secrets: readonly string[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw wrongKind('an empty list');
  return Promise.all(secrets.map(signingKey));
}

async function signingKey(secret: string): Promise<CryptoKey> {
  if (typeof secret !== 'string' || !/^whsec_\S+$/.test(secret))
    throw wrongKind(secretKind(secret));
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

/** HMAC-SHA256 in lower-case hexadecimal digits. */
export async function signatureHex(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const signature = new Uint8Array(await crypto.subtle.sign(algorithm, key, bytes));
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether the signature belongs to the bytes, in constant time. `hex` is 64 checked digits. */
export function signatureMatches(
  key: CryptoKey,
  hex: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify(algorithm, key, signature, bytes);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object'
    ? `an object (${value.constructor?.name ?? 'no class'})`
    : typeof value;
}

function secretKind(secret: unknown): string {
  if (typeof secret !== 'string') return kindOf(secret);
  if (secret === '') return 'an empty string';
  if (secret.startsWith('sk_')) return 'a secret API key (sk_…)';
  if (secret.startsWith('pk_')) return 'a publishable API key (pk_…)';
  if (secret.startsWith('whsec_')) return 'a whsec_ prefix that nothing, or white space, follows';
  return 'a text without that prefix';
}

function wrongKind(got: string): WebhookError {
  return new WebhookError(
    'secret_wrong_kind',
    `Expected a webhook signing secret (whsec_…), got ${got}. Use the secret that was shown when the ` +
      'webhook was registered; API keys do not sign webhooks.',
  );
}
