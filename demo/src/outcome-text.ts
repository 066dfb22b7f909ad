import type { Availability, Reward, ShowResult } from 'trueward';

const messages: Partial<Record<ShowResult['outcome'], string>> = {
  rewarded: 'Confirmed. Thank you for watching!',
  pending: 'Watched. The coins will arrive once they are confirmed.',
  completed: '',
  dismissed: 'You closed the ad, so there is no reward.',
  denied: 'The service did not count this view.',
  no_fill: 'There is no ad right now.',
  frequency_capped: 'That was the last ad for now.',
  cooldown: 'The next ad is not ready yet.',
  blocked: 'There is no suitable ad.',
  killed: 'This ad was withdrawn.',
  ad_blocked: 'Something in this browser is blocking ads.',
  offline: 'You are offline.',
  timeout: 'The ad took too long.',
  stalled: 'The ad stopped playing.',
  already_showing: 'An ad is already open.',
};

/** Returns the message to show after an ad or when no ad is available. It is empty if no message is needed. */
export function outcomeText({ outcome, retryAt }: ShowResult, now: number): string {
  const text = messages[outcome] ?? 'There is no ad right now.';
  return retryAt ? `${text} ${formatWait(retryAt, now)}` : text;
}

/** Returns the text below an offer. */
export function offerText(availability: Availability, now: number): string {
  const { available, outcome, retryAt, reward } = availability;
  if (available) return `Watch a short ad${reward ? ` for ${describeReward(reward)}` : ''}`;
  return outcomeText({ outcome: outcome ?? 'no_fill', ...(retryAt ? { retryAt } : {}) }, now);
}

/** Such as `50 coins`. Of what lasts for a time, there is only one, such as `double sparks`. */
export function describeReward({ amount, type }: Reward): string {
  const name = type.replaceAll('_', ' ');
  return amount === 1 ? name : `${amount} ${name}`;
}

function formatWait(retryAt: Date, now: number): string {
  const seconds = Math.max(1, Math.ceil((retryAt.getTime() - now) / 1_000));
  if (seconds < 90) return `Try again in ${seconds} s.`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90
    ? `Try again in ${minutes} min.`
    : `Try again in ${Math.ceil(minutes / 60)} h.`;
}
