/**
 * Helpers for your game server. They verify webhooks and receipts from the service and sign user tokens. They run on
 * every platform with Web Crypto (Node, Deno, Bun, workers).
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
export { type JwkSet, ReceiptError, type ReceiptErrorCode } from './receipt-keys.ts';
export { signUserToken, type SignUserTokenOptions } from './sign-user-token.ts';
export {
  type PortalPlayer,
  PortalTokenError,
  type PortalTokenErrorCode,
  type VerifiablePortal,
  verifyPortalToken,
  type VerifyPortalTokenOptions,
} from './verify-portal-token.ts';
export {
  createUsedReceipts,
  type RewardReceipt,
  type UsedReceipts,
  type UsedReceiptsOptions,
  verifyReceipt,
  type VerifyReceiptOptions,
} from './verify-receipt.ts';
export { verifyWebhook, type VerifyWebhookOptions, type WebhookHeaders } from './verify-webhook.ts';
export {
  type RawBody,
  signWebhook,
  type StandardWebhookHeaders,
  WebhookError,
  type WebhookErrorCode,
  type WebhookSignatureHeaders,
} from './webhook-signature.ts';
