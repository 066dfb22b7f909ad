/**
 * Code that uses the package the way a game and its server would. It is only compiled, never run: the `types` check
 * fails on an unexpected error and on an expected error that does not occur.
 */
import {
  createAds,
  type Ads,
  type Availability,
  type Decision,
  type EarnedReward,
  type Outcome,
  type Reason,
  type Reward,
  type ShowResult,
} from 'trueward';
import type { TruewardComponent } from 'trueward/cocos';
import type { TruewardPlugin } from 'trueward/phaser';
import { verifyWebhook, type WebhookEvent } from 'trueward/server';

const ads: Ads = createAds({ publishableKey: 'pk_sandbox_x', serviceUrl: 'https://example.com' });

// @ts-expect-error The service URL is required.
createAds({ publishableKey: 'pk_sandbox_x' });
// @ts-expect-error A misspelled option is an error.
createAds({ publishableKey: 'pk_sandbox_x', serviceUrl: 'https://example.com', userref: 'a' });

// Placements can be named, and such ads are used wherever others are.
const namedAds = createAds<'revive' | 'level-end'>({
  publishableKey: 'pk_sandbox_x',
  serviceUrl: 'https://example.com',
});
void namedAds.showRewarded('revive');
// @ts-expect-error A misspelled placement is an error.
void namedAds.showRewarded('reviev');
export const anyAds: Ads = namedAds;
export const inScene = (plugin: TruewardPlugin): Ads<'revive'> => plugin;

// A user token may be a promise, and a call may have its own custom data.
void createAds({
  publishableKey: 'pk_sandbox_x',
  serviceUrl: 'https://example.com',
  userToken: async () => 'token',
  muted: true,
}).preload('revive', { customData: 'level-7', segments: ['newcomer'] });
// @ts-expect-error Segments must be a list.
void ads.showRewarded('revive', { segments: 'newcomer' });

export async function show(this: { ads: TruewardPlugin }): Promise<string | number> {
  const result = await ads.showRewarded('revive', { signal: new AbortController().signal });
  const outcome: Outcome = result.outcome;
  // @ts-expect-error Unknown outcome.
  if (outcome === 'watched') return 'never';
  // @ts-expect-error The reward is optional.
  if (result.reward.amount > 0) return 'unchecked';
  // @ts-expect-error The placement is required.
  await this.ads.showRewarded();
  return (await this.ads.showInterstitial('level-end')).outcome;
}

/** An outcome is never taken for a reason, and only an ad that was watched has a reward. */
export function read(result: ShowResult, { outcome, reason }: Availability): Reward | undefined {
  const [howItEnds, why]: [Outcome | undefined, Reason | undefined] = [outcome, reason];
  // @ts-expect-error A reason is not an outcome.
  const wrong: Outcome | undefined = reason;
  // @ts-expect-error A dismissed ad has no reward.
  if (result.outcome === 'dismissed') return result.reward.amount;
  if (result.outcome === 'rewarded') return result.reward;
  return [howItEnds, why, wrong].length > 0 ? undefined : undefined;
}

/** A server-side decision, as `preload()` takes it. */
export const preloadDecision = (decision: Decision) => ads.preload('revive', { decision });

export const debugInCocos = ({ ads: cocosAds }: TruewardComponent): number => {
  cocosAds.toggleDebugPanel();
  return cocosAds.diagnostics().outbox.stored;
};

export const off: () => void = ads.on('reward', async (reward: EarnedReward) => {
  // @ts-expect-error Amounts are numbers.
  if (reward.reward.amount === '50') return;
  await Promise.resolve(reward.decisionId);
});

export async function receive(request: Request): Promise<WebhookEvent['type']> {
  const event = await verifyWebhook(await request.text(), request.headers, ['whsec_a', 'whsec_b']);
  // @ts-expect-error Only rewarded decisions have a reward.
  if (event.type === 'decision.served') return event.data.reward;
  if (event.type === 'decision.rewarded')
    return event.data.user_ref === '' ? event.type : 'decision.rewarded';
  // @ts-expect-error A parsed body can't be verified.
  await verifyWebhook(await request.json().then(() => ({})), request.headers, 'whsec_a');
  return event.type;
}
