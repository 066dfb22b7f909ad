import type { RewardReport, ShowResult } from '../outcome.ts';

/** Returns how a call ends that showed a watched ad, by what is known of its reward. */
export function toRewardResult({ state, reason, reward }: RewardReport): ShowResult {
  const earned = reward === undefined ? {} : { reward };
  if (state === 'earned') return { outcome: 'rewarded', ...earned };
  if (state === 'denied' || state === 'expired') {
    const deniedFor = reason ?? (state === 'expired' ? 'expired' : undefined);
    return { outcome: 'denied', ...(deniedFor && { reason: deniedFor }) };
  }
  return { outcome: 'pending', ...earned };
}
