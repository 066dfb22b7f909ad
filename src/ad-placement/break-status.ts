import type { Outcome } from '../outcome.ts';
import type { BreakStatus } from './ad-placement.ts';

const statuses: Readonly<Record<Outcome, BreakStatus>> = {
  rewarded: 'viewed',
  // Watched as well; only the confirmation is still on its way.
  pending: 'viewed',
  completed: 'viewed',
  dismissed: 'dismissed',
  denied: 'other',
  no_fill: 'noAdPreloaded',
  frequency_capped: 'frequencyCapped',
  cooldown: 'frequencyCapped',
  blocked: 'other',
  killed: 'other',
  ad_blocked: 'other',
  offline: 'other',
  timeout: 'timeout',
  stalled: 'other',
  already_showing: 'other',
  aborted: 'other',
  not_ready: 'notReady',
  invalid_placement: 'invalid',
  // Google keeps its `error` for callbacks of the game that threw.
  error: 'other',
};

/** Google’s word for an outcome of ours. */
export function breakStatusOf(outcome: Outcome, format: 'interstitial' | 'reward'): BreakStatus {
  // Closing an interstitial early loses nothing, so Google tells it apart for rewards only.
  if (outcome === 'dismissed' && format === 'interstitial') return 'viewed';
  return statuses[outcome];
}
