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
