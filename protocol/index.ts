import {
  adEventSchema,
  eventBatchResultSchema,
  eventBatchSchema,
  eventResultSchema,
} from './schemas/ad-event.ts';
import { advertiserSchema } from './schemas/advertiser.ts';
import { creativeSchema, mediaFileSchema, mediaSchema, reviewSchema } from './schemas/creative.ts';
import {
  consentSchema,
  decisionCreativeSchema,
  decisionRequestSchema,
  decisionSchema,
  explanationSchema,
} from './schemas/decision.ts';
import { houseAdSchema } from './schemas/house-ad.ts';
import { killSwitchSchema } from './schemas/kill-switch.ts';
import { frequencyCapSchema, placementSchema } from './schemas/placement.ts';
import { policySchema } from './schemas/policy.ts';
import { problemSchema } from './schemas/problem.ts';
import { rewardSchema, rewardStatusSchema } from './schemas/reward.ts';
import { sourceSchema } from './schemas/source.ts';
import {
  creativeReviewUpdatedEventSchema,
  decisionRewardedEventSchema,
  decisionServedEventSchema,
  killSwitchChangedEventSchema,
  policyBlockedEventSchema,
  webhookEventSchema,
} from './schemas/webhook-event.ts';
import { webhookRequestSchema, webhookSchema } from './schemas/webhook.ts';

export { idPrefixes, type IdKind } from './schemas/common.ts';
export { problemStatus } from './schemas/problem.ts';
export { webhookEventTypes } from './schemas/webhook.ts';

/** Every named schema of the contract: validation, OpenAPI components and `wire.ts` come from this list. */
export const schemas = [
  rewardSchema,
  rewardStatusSchema,
  frequencyCapSchema,
  placementSchema,
  sourceSchema,
  advertiserSchema,
  mediaFileSchema,
  mediaSchema,
  reviewSchema,
  creativeSchema,
  houseAdSchema,
  policySchema,
  killSwitchSchema,
  consentSchema,
  decisionRequestSchema,
  decisionCreativeSchema,
  explanationSchema,
  decisionSchema,
  adEventSchema,
  eventBatchSchema,
  eventResultSchema,
  eventBatchResultSchema,
  webhookRequestSchema,
  webhookSchema,
  decisionServedEventSchema,
  decisionRewardedEventSchema,
  policyBlockedEventSchema,
  creativeReviewUpdatedEventSchema,
  killSwitchChangedEventSchema,
  webhookEventSchema,
  problemSchema,
];
