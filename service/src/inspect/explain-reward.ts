import type { AdEvent } from '@trueward/protocol/wire';

/** What is known of a decision when its reward is explained. */
interface RewardStory {
  status: string;
  format: string;
  requiredMs: number | null;
  invalidReason: string | null;
  servedAt: Date | null;
  lateAt: Date | null;
  settledAt: Date | null;
  rewardState: string;
  rewardReason: string | null;
  events: readonly { type: AdEvent['type']; watchedMs: number | null }[];
}

/** Why a reward stands where it does, in the order in which it is judged. Pure. */
export function explainReward(story: RewardStory): string[] {
  if (story.status !== 'filled') return ['No ad was handed out, so there is nothing to earn.'];
  if (story.format !== 'rewarded') return [`A ${story.format} placement gives no reward.`];
  const has = (type: AdEvent['type']) => story.events.some((event) => event.type === type);
  const watchedMs = Math.max(0, ...story.events.map((event) => event.watchedMs ?? 0));
  const seconds = (ms: number | null) => `${((ms ?? 0) / 1_000).toFixed(1)} s`;
  return [
    story.servedAt
      ? `The impression was verified for ${story.servedAt.toISOString()}.`
      : has('impression')
        ? 'An impression was reported, but it could not be verified.'
        : 'No impression was reported yet.',
    `It has to be watched for ${seconds(story.requiredMs)}; the game reported ${seconds(watchedMs)}.`,
    has('complete') ? 'Its end was reported.' : 'Its end was not reported yet.',
    ...(story.invalidReason === null ? [] : [`It is invalid traffic: ${story.invalidReason}.`]),
    ...(story.settledAt
      ? [
          `The reward was ${story.rewardState} at ${story.settledAt.toISOString()}${story.rewardReason === null ? '' : `: ${story.rewardReason}`}.`,
        ]
      : [`It can be earned until ${story.lateAt?.toISOString() ?? 'the ad ends'}.`]),
  ];
}
