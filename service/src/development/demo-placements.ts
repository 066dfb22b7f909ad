import type { Stored } from '../resource/resource.ts';

const common = {
  cooldown_s: 0,
  min_view_ms: 5_000,
  close_after_ms: 5_000,
  late_window_s: 86_400,
  status: 'active',
} as const;

/** What the demo game asks for. */
export const demoPlacements: Stored<'placement'>[] = [
  { ...common, name: 'revive', format: 'rewarded', reward: { type: 'coins', amount: 25 } },
  { ...common, name: 'double-coins', format: 'rewarded', reward: { type: 'coins', amount: 50 } },
  { ...common, name: 'level-end', format: 'interstitial' },
  { ...common, name: 'lobby', format: 'banner', close_after_ms: 0 },
];
