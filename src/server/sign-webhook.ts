import { signatureHex, signedBytes, signingKeys, type RawBody } from './webhook-signature.ts';

/** The two headers that each webhook request carries; a type, because an interface fits no record of headers. */
export type WebhookSignatureHeaders = {
  'service-timestamp': string;
  'service-signature': string;
};

/**
 * Signs a webhook body, as the service does: HMAC-SHA256 of `<timestamp>.<raw body>`. Meant for the
 * tests of a webhook receiver.
 *
 * @param secret - one `whsec_…` secret, or several while a secret is being rotated (one signature each).
 * @param timestampS - unix time in seconds.
 * @throws WebhookError `secret_wrong_kind` or `body_not_raw`.
 * @throws RangeError when the time is not in whole seconds.
 * @example
 * const headers = await signWebhook(body, 'whsec_…', Math.floor(Date.now() / 1000));
 * await fetch(url, { method: 'POST', headers, body });
 */
export async function signWebhook(
  rawBody: RawBody,
  secret: string | readonly string[],
  timestampS: number,
): Promise<WebhookSignatureHeaders> {
  // The year 5138 in seconds; in milliseconds, a day in 1973.
  if (!Number.isInteger(timestampS) || timestampS < 0 || timestampS > 1e11) {
    throw new RangeError(`Expected a time in whole seconds since 1970, got ${timestampS}.`);
  }
  const timestamp = String(timestampS);
  const bytes = signedBytes(timestamp, rawBody);
  const keys = await signingKeys(secret);
  const signatures = await Promise.all(keys.map((key) => signatureHex(key, bytes)));
  return {
    'service-timestamp': timestamp,
    'service-signature': signatures.map((hex) => `v1=${hex}`).join(','),
  };
}
