/**
 * For the game's own server: verify webhooks and receipts of the service, and sign user tokens. Runs wherever Web standards do
 * (Node, Deno, Bun, workers); needs nothing of a browser.
 *
 * @module trueward/server
 */
export type {
  CreativeReviewUpdatedEvent,
  DecisionRewardedEvent,
  DecisionServedEvent,
  KillSwitchChangedEvent,
  PolicyBlockedEvent,
  WebhookEvent,
} from '../../protocol/wire.ts';
export { ReceiptError, type ReceiptErrorCode } from './receipt-keys.ts';
export type { JwkSet } from './receipt-keys.ts';
export { signUserToken, type SignUserTokenOptions } from './sign-user-token.ts';
export {
  signWebhook,
  type StandardWebhookHeaders,
  type WebhookSignatureHeaders,
} from './sign-webhook.ts';
export {
  createUsedReceipts,
  type UsedReceipts,
  type UsedReceiptsOptions,
} from './used-receipts.ts';
export { verifyReceipt, type RewardReceipt, type VerifyReceiptOptions } from './verify-receipt.ts';
export { verifyWebhook, type VerifyWebhookOptions, type WebhookHeaders } from './verify-webhook.ts';
export { WebhookError, type WebhookErrorCode } from './webhook-signature.ts';
export type { RawBody } from './webhook-signature.ts';
