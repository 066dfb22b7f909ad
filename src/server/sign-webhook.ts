import {
  serviceScheme,
  signedBytes,
  signingKeys,
  standardScheme,
  type RawBody,
  type SignatureScheme,
} from './webhook-signature.ts';

/** The two headers that each webhook request carries; a type, because an interface fits no record of headers. */
export type WebhookSignatureHeaders = {
  'service-timestamp': string;
  'service-signature': string;
};

/** The headers of [Standard Webhooks](https://www.standardwebhooks.com), which each webhook request carries too. */
export type StandardWebhookHeaders = {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
};

/**
 * Signs a webhook body, as the service does: HMAC-SHA256 of `<timestamp>.<raw body>`. Meant for the
 * tests of a webhook receiver.
 *
 * @param secret - one `whsec_…` secret, or several while a secret is being rotated (one signature each).
 * @param timestampS - unix time in seconds.
 * @throws WebhookError `secret_wrong_kind` or `body_not_raw`.
 * @throws RangeError when the time is not in whole seconds.
 */
export async function signWebhook(
  rawBody: RawBody,
  secret: string | readonly string[],
  timestampS: number,
): Promise<WebhookSignatureHeaders>;
/**
 * Signs a webhook body, as the service does, and makes the headers of Standard Webhooks too: HMAC-SHA256
 * of `<id>.<timestamp>.<raw body>`, with the base64-decoded secret as the key.
 *
 * @param secret - one `whsec_…` secret, or several while a secret is being rotated (one signature each).
 * @param timestampS - unix time in seconds.
 * @param id - the event's id.
 * @throws WebhookError `secret_wrong_kind` or `body_not_raw`.
 * @throws RangeError when the time is not in whole seconds, or the id is not one to 256 letters,
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
  // The year 5138 in seconds; in milliseconds, a day in 1973.
  if (!Number.isInteger(timestampS) || timestampS < 0 || timestampS > 1e11) {
    throw new RangeError(`Expected a time in whole seconds since 1970, got ${timestampS}.`);
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
      `Expected the id of an event (1 to 256 letters, digits, _ and -), got ${JSON.stringify(id.slice(0, 40))}.`,
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
  const bytes = signedBytes(prefix, rawBody);
  const keys = await signingKeys(secret, scheme);
  const signatures = await Promise.all(
    keys.map(async (key) =>
      scheme.write(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))),
    ),
  );
  return signatures.join(scheme.separator);
}
