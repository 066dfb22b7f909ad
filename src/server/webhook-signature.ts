/** Why a webhook was refused. The list is closed; a new reason is a new minor version. */
export type WebhookErrorCode =
  | 'body_not_raw'
  | 'secret_wrong_kind'
  | 'headers_missing'
  | 'no_v1'
  | 'mismatch'
  | 'too_old'
  | 'too_new'
  | 'body_not_json';

/**
 * A webhook that must not be processed. Answer the request with status 400 and log `message`: it
 * names the likely mistake and contains neither the secret nor the body.
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** The body as it came over the wire: text, or bytes (a Node `Buffer` is a `Uint8Array`). */
export type RawBody = string | Uint8Array;

/** One of the two signatures on each webhook: HMAC-SHA256, which differ in key and encoding. */
export interface SignatureScheme {
  /** Between the signatures of several secrets. */
  separator: ',' | ' ';
  /** The bytes of the key; undefined when the secret has none for this scheme. */
  keyOf(secret: string): Uint8Array<ArrayBuffer> | undefined;
  write(signature: Uint8Array): string;
  /** The bytes of one signature; undefined for other versions and whatever is malformed. */
  read(text: string): Uint8Array<ArrayBuffer> | undefined;
}

/** `Service-Signature`: hexadecimal. The key is the text of the secret, not decoded. */
export const serviceScheme: SignatureScheme = {
  separator: ',',
  keyOf: (secret) => new TextEncoder().encode(secret),
  write: (signature) =>
    `v1=${Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  read(text) {
    const [, hex] = /^v1=([0-9a-f]{64})$/.exec(text) ?? [];
    return hex === undefined
      ? undefined
      : Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  },
};

/** `Webhook-Signature` of Standard Webhooks: base64. The key is the base64-decoded secret. */
export const standardScheme: SignatureScheme = {
  separator: ' ',
  keyOf: (secret) => fromBase64(secret.slice('whsec_'.length)),
  write: (signature) => `v1,${btoa(String.fromCharCode(...signature))}`,
  read(text) {
    // The last digit of 32 bytes has two unused bits: only the canonical encoding is accepted.
    const [, base64] = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/.exec(text) ?? [];
    return base64 === undefined ? undefined : fromBase64(base64);
  },
};

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1)
    return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * The bytes that are signed: a prefix, then the raw body.
 *
 * @throws WebhookError `body_not_raw` when the body was parsed before.
 */
export function signedBytes(before: string, rawBody: RawBody): Uint8Array<ArrayBuffer> {
  const prefix = new TextEncoder().encode(before);
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
 * The keys of one signing secret or of several.
 *
 * @throws WebhookError `secret_wrong_kind` for anything but webhook signing secrets.
 */
export async function signingKeys(
  secret: string | readonly string[],
  scheme: SignatureScheme,
): Promise<CryptoKey[]> {
  const secrets: readonly string[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw wrongKind('an empty list');
  return Promise.all(secrets.map((one) => signingKey(one, scheme)));
}

async function signingKey(secret: string, { keyOf }: SignatureScheme): Promise<CryptoKey> {
  if (typeof secret !== 'string' || !/^whsec_\S+$/.test(secret))
    throw wrongKind(secretKind(secret));
  const bytes = keyOf(secret);
  if (bytes === undefined) throw wrongKind('one that is not base64 behind whsec_');
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
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
