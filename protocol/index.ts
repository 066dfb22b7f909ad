import {
  adEventSchema,
  eventBatchResultSchema,
  eventBatchSchema,
  eventResultSchema,
} from './schemas/ad-event.ts';
import {
  apiKeyRequestSchema,
  apiKeySchema,
  apiKeyUpdateSchema,
  overlapRequestSchema,
} from './schemas/api-key.ts';
import {
  adLimitSchema,
  adLimitsSchema,
  adRuleSchema,
  playerSessionSchema,
} from './schemas/ad-rule.ts';
import { auditEntrySchema } from './schemas/audit-entry.ts';
import { advertiserSchema } from './schemas/advertiser.ts';
import {
  creativeSchema,
  mediaFileSchema,
  mediaSchema,
  reviewRequestSchema,
  reviewSchema,
} from './schemas/creative.ts';
import {
  consentSchema,
  adIconSchema,
  decisionCreativeSchema,
  decisionRequestSchema,
  pageMediaSchema,
  decisionSchema,
  explanationSchema,
} from './schemas/decision.ts';
import {
  deliveryAttemptSchema,
  deliverySchema,
  webhookTestSchema,
  webhookUpdateSchema,
} from './schemas/delivery.ts';
import { jobSchema } from './schemas/job.ts';
import { mistakeListSchema, mistakeSchema } from './schemas/mistake.ts';
import { houseAdSchema } from './schemas/house-ad.ts';
import { killSwitchSchema } from './schemas/kill-switch.ts';
import { frequencyCapSchema, placementSchema } from './schemas/placement.ts';
import { policySchema } from './schemas/policy.ts';
import { problemSchema } from './schemas/problem.ts';
import { reportRowSchema, reportSchema } from './schemas/report.ts';
import { requestSchemas } from './schemas/requests.ts';
import { retentionRequestSchema, retentionSchema } from './schemas/retention.ts';
import { rewardSchema, rewardStatusSchema } from './schemas/reward.ts';
import {
  sourceCallbackRequestSchema,
  sourceCallbackSchema,
  sourceCallbackSecretSchema,
  sourceSchema,
} from './schemas/source.ts';
import { usageSchema } from './schemas/usage.ts';
import { userTokenSecretRequestSchema, userTokenSecretSchema } from './schemas/user-token.ts';
import {
  creativeReviewUpdatedEventSchema,
  decisionRewardedEventSchema,
  decisionServedEventSchema,
  killSwitchChangedEventSchema,
  walletCreditedEventSchema,
  walletSpentEventSchema,
  policyBlockedEventSchema,
  webhookEventSchema,
} from './schemas/webhook-event.ts';
import {
  deviceSchema,
  entitlementSchema,
  grantBudgetListSchema,
  grantBudgetRequestSchema,
  grantBudgetSchema,
  grantRequestSchema,
  guestSchema,
  linkCodeSchema,
  linkRequestSchema,
  transferRequestSchema,
  playerWalletSchema,
  spendRequestSchema,
  spendSchema,
  walletEntrySchema,
  walletReportSchema,
  walletSchema,
} from './schemas/wallet.ts';
import {
  webhookHealthListSchema,
  webhookHealthSchema,
  webhookRequestSchema,
  webhookSchema,
} from './schemas/webhook.ts';

export { videoDurationMs } from './schemas/creative.ts';
export { idPattern, idPrefixes, linePattern, type IdKind } from './schemas/common.ts';
export { problemStatus } from './schemas/problem.ts';
export { reportDimensions, reportMetrics } from './schemas/report.ts';
export { webhookEventTypes } from './schemas/webhook.ts';

/** All named schemas in the contract. They are used for validation, the OpenAPI components and `wire.ts`. */
export const schemas = [
  rewardSchema,
  rewardStatusSchema,
  frequencyCapSchema,
  placementSchema,
  sourceSchema,
  sourceCallbackSchema,
  sourceCallbackRequestSchema,
  sourceCallbackSecretSchema,
  advertiserSchema,
  mediaFileSchema,
  mediaSchema,
  reviewSchema,
  creativeSchema,
  houseAdSchema,
  policySchema,
  adRuleSchema,
  adLimitSchema,
  adLimitsSchema,
  killSwitchSchema,
  consentSchema,
  playerSessionSchema,
  decisionRequestSchema,
  adIconSchema,
  pageMediaSchema,
  decisionCreativeSchema,
  explanationSchema,
  decisionSchema,
  adEventSchema,
  eventBatchSchema,
  eventResultSchema,
  eventBatchResultSchema,
  webhookRequestSchema,
  webhookSchema,
  webhookHealthSchema,
  webhookHealthListSchema,
  decisionServedEventSchema,
  decisionRewardedEventSchema,
  policyBlockedEventSchema,
  creativeReviewUpdatedEventSchema,
  killSwitchChangedEventSchema,
  walletCreditedEventSchema,
  walletSpentEventSchema,
  webhookEventSchema,
  problemSchema,
  ...requestSchemas,
  reviewRequestSchema,
  webhookUpdateSchema,
  webhookTestSchema,
  deliveryAttemptSchema,
  deliverySchema,
  jobSchema,
  mistakeSchema,
  mistakeListSchema,
  apiKeySchema,
  apiKeyRequestSchema,
  apiKeyUpdateSchema,
  overlapRequestSchema,
  auditEntrySchema,
  reportRowSchema,
  reportSchema,
  usageSchema,
  retentionRequestSchema,
  retentionSchema,
  userTokenSecretRequestSchema,
  userTokenSecretSchema,
  guestSchema,
  entitlementSchema,
  walletSchema,
  spendRequestSchema,
  spendSchema,
  linkCodeSchema,
  linkRequestSchema,
  transferRequestSchema,
  walletEntrySchema,
  grantRequestSchema,
  deviceSchema,
  playerWalletSchema,
  grantBudgetRequestSchema,
  grantBudgetSchema,
  grantBudgetListSchema,
  walletReportSchema,
];
