/** Why a receipt was refused. The list is closed; a new reason is a new minor version. */
export type ReceiptErrorCode =
  | 'malformed'
  | 'algorithm_not_allowed'
  | 'key_unknown'
  | 'keys_unavailable'
  | 'mismatch'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_issuer'
  | 'wrong_account'
  | 'wrong_environment';

/** A receipt that must not be redeemed; `keys_unavailable` alone can be otherwise a moment later. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
  readonly code: ReceiptErrorCode;

  constructor(code: ReceiptErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
