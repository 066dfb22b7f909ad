/** Why a webhook was rejected. New codes are added only in minor versions. */
export type WebhookErrorCode =
  | 'body_not_raw'
  | 'secret_wrong_kind'
  | 'headers_missing'
  | 'no_v1'
  | 'mismatch'
  | 'too_old'
  | 'too_new'
  | 'body_not_json'
  | 'evidence_not_accepted';

/**
 * Thrown for a webhook that must not be processed. Respond with status 400 and log `message`, which names the likely
 * mistake and contains neither the secret nor the body.
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

/** The unparsed body, as text or bytes (a Node `Buffer` is a `Uint8Array`). */
export type RawBody = string | Uint8Array;

/**
 * A scheme for one of the two HMAC-SHA256 signatures that every webhook request carries. The schemes differ in key and
 * encoding.
 */
export interface SignatureScheme {
  /** Separates signatures made with different secrets. */
  separator: ',' | ' ';
  /** Returns the key bytes, or undefined if the secret is invalid for this scheme. */
  toKeyBytes(secret: string): Uint8Array<ArrayBuffer> | undefined;
  write(signature: Uint8Array): string;
  /** Parses one signature. Returns undefined if it is malformed or has a different version. */
  read(text: string): Uint8Array<ArrayBuffer> | undefined;
}

/** `Service-Signature`: hexadecimal. The key is the secret's UTF-8 text. */
export const serviceScheme: SignatureScheme = {
  separator: ',',
  toKeyBytes: (secret) => new TextEncoder().encode(secret),
  write: (signature) =>
    `v1=${Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  read(text) {
    const [, hex] = /^v1=([0-9a-f]{64})$/.exec(text) ?? [];
    return hex === undefined
      ? undefined
      : Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  },
};

/** `Webhook-Signature`, from Standard Webhooks: base64. The key is the base64-decoded secret. */
export const standardScheme: SignatureScheme = {
  separator: ' ',
  toKeyBytes: (secret) => decodeBase64(secret.slice('whsec_'.length)),
  write: (signature) => `v1,${btoa(String.fromCharCode(...signature))}`,
  read(text) {
    // When 32 bytes are encoded as base64, the last character before the padding has two unused bits. Only the
    // canonical encoding, in which these bits are zero, is accepted.
    const [, base64] = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/.exec(text) ?? [];
    return base64 === undefined ? undefined : decodeBase64(base64);
  },
};

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1)
    return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * Returns the signed bytes: a prefix, then the raw body.
 *
 * @throws WebhookError `body_not_raw` if the body has already been parsed.
 */
export function toSignedBytes(prefix: string, rawBody: RawBody): Uint8Array<ArrayBuffer> {
  const prefixBytes = new TextEncoder().encode(prefix);
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  // Not `instanceof`: in Jest, a `Buffer` is an instance of another `Uint8Array` than the one that this code sees.
  if (Object.prototype.toString.call(body) !== '[object Uint8Array]') {
    throw new WebhookError(
      'body_not_raw',
      `Expected the raw request body as a string or Uint8Array, got ${describeKind(rawBody)}. ` +
        'The body was probably already parsed: verify first (Express: `express.raw({ type: "application/json" })`, ' +
        'fetch handlers: `await request.text()`), then use the event that `verifyWebhook` returns.',
    );
  }
  const bytes = new Uint8Array(prefixBytes.length + body.length);
  bytes.set(prefixBytes);
  bytes.set(body, prefixBytes.length);
  return bytes;
}

/**
 * Imports the signing keys for one or more webhook secrets.
 *
 * @throws WebhookError `secret_wrong_kind` for anything other than webhook secrets.
 */
export async function importSigningKeys(
  secret: string | readonly string[],
  scheme: SignatureScheme,
): Promise<CryptoKey[]> {
  const secrets: readonly string[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw wrongKindError('an empty list');
  return Promise.all(secrets.map((text) => importSigningKey(text, scheme)));
}

async function importSigningKey(
  secret: string,
  { toKeyBytes }: SignatureScheme,
): Promise<CryptoKey> {
  if (typeof secret !== 'string' || !/^whsec_\S+$/.test(secret))
    throw wrongKindError(describeSecret(secret));
  const bytes = toKeyBytes(secret);
  if (bytes === undefined) throw wrongKindError('a secret that is not base64 after whsec_');
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object'
    ? `an object (${value.constructor?.name ?? 'no class'})`
    : typeof value;
}

function describeSecret(secret: unknown): string {
  if (typeof secret !== 'string') return describeKind(secret);
  if (secret === '') return 'an empty string';
  if (secret.startsWith('sk_')) return 'a secret API key (sk_…)';
  if (secret.startsWith('pk_')) return 'a publishable API key (pk_…)';
  if (secret.startsWith('whsec_')) return 'whsec_ followed by nothing or by white space';
  return 'a string without that prefix';
}

function wrongKindError(actual: string): WebhookError {
  return new WebhookError(
    'secret_wrong_kind',
    `Expected a webhook secret (whsec_…), got ${actual}. Use the secret that was shown when the ` +
      'webhook was registered; API keys cannot sign webhooks.',
  );
}

/**
 * The signature headers on every webhook request. This is a type alias rather than an interface, so that it can be
 * assigned to a record of headers.
 */
export type WebhookSignatureHeaders = {
  'service-timestamp': string;
  'service-signature': string;
};

/** The [Standard Webhooks](https://www.standardwebhooks.com) headers, which every webhook request also carries. */
export type StandardWebhookHeaders = {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
};

/**
 * Signs a webhook body the way the service does: HMAC-SHA256 of `<timestamp>.<raw body>`. Intended for testing a
 * webhook receiver.
 *
 * @param secret - one `whsec_…` secret, or several during a rotation (one signature each).
 * @param timestampS - Unix time in seconds.
 * @throws WebhookError `secret_wrong_kind` or `body_not_raw`.
 * @throws RangeError if the time is not in whole seconds.
 */
export async function signWebhook(
  rawBody: RawBody,
  secret: string | readonly string[],
  timestampS: number,
): Promise<WebhookSignatureHeaders>;
/**
 * Signs a webhook body the way the service does, and adds the Standard Webhooks headers: HMAC-SHA256 of
 * `<id>.<timestamp>.<raw body>`, with the base64-decoded secret as the key.
 *
 * @param secret - one `whsec_…` secret, or several during a rotation (one signature each).
 * @param timestampS - Unix time in seconds.
 * @param id - the event id.
 * @throws WebhookError `secret_wrong_kind` or `body_not_raw`.
 * @throws RangeError if the time is not in whole seconds, or the id does not consist of 1 to 256 letters,
 *   digits, `_` and `-`.
 * @example
 * const headers = await signWebhook(body, 'whsec_…', Math.floor(Date.now() / 1000), event.id);
 * await fetch(url, { method: 'POST', headers, body });
 */
export async function signWebhook(
  rawBody: RawBody,
  secret: string | readonly string[],
  timestampS: number,
  id: string,
): Promise<WebhookSignatureHeaders & StandardWebhookHeaders>;
export async function signWebhook(
  rawBody: RawBody,
  secret: string | readonly string[],
  timestampS: number,
  id?: string,
): Promise<WebhookSignatureHeaders & Partial<StandardWebhookHeaders>> {
  // Rejects milliseconds: 1e11 seconds is in the year 5138, but 1e11 milliseconds is in 1973.
  if (!Number.isInteger(timestampS) || timestampS < 0 || timestampS > 1e11) {
    throw new RangeError(`Expected whole seconds since 1970, got ${timestampS}.`);
  }
  const timestamp = String(timestampS);
  const headers = {
    'service-timestamp': timestamp,
    'service-signature': await sign(serviceScheme, `${timestamp}.`, rawBody, secret),
  };
  if (id === undefined) return headers;
  // A dot in the id would make the signed text ambiguous.
  if (!/^[\w-]{1,256}$/.test(id)) {
    throw new RangeError(
      `Expected an event id (1 to 256 letters, digits, _ and -), got ${JSON.stringify(id.slice(0, 40))}.`,
    );
  }
  return {
    ...headers,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await sign(standardScheme, `${id}.${timestamp}.`, rawBody, secret),
  };
}

async function sign(
  scheme: SignatureScheme,
  prefix: string,
  rawBody: RawBody,
  secret: string | readonly string[],
): Promise<string> {
  const bytes = toSignedBytes(prefix, rawBody);
  const keys = await importSigningKeys(secret, scheme);
  const signatures = await Promise.all(
    keys.map(async (key) =>
      scheme.write(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))),
    ),
  );
  return signatures.join(scheme.separator);
}
