/**
 * For the game's own server: verify the webhooks of the service. Runs wherever Web standards do
 * (Node, Deno, Bun, workers); needs nothing of a browser.
 *
 * @packageDocumentation
 */
export type {
  CreativeReviewUpdatedEvent,
  DecisionRewardedEvent,
  DecisionServedEvent,
  KillSwitchChangedEvent,
  PolicyBlockedEvent,
  WebhookEvent,
} from '../../protocol/wire.ts';
export { signWebhook, type WebhookSignatureHeaders } from './sign-webhook.ts';
export { verifyWebhook, type VerifyWebhookOptions, type WebhookHeaders } from './verify-webhook.ts';
export { WebhookError, type WebhookErrorCode } from './webhook-error.ts';
export type { RawBody } from './webhook-signature.ts';
