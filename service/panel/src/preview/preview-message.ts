import type { DecisionCreative, Placement } from '@trueward/protocol/wire';

/** What the panel tells the frame that shows an ad. */
export interface PreviewMessage {
  trueward: 'preview';
  creative: DecisionCreative;
  reward?: Placement['reward'] | undefined;
  format: Placement['format'];
}

/** What the frame tells the panel: it can be told, it shows the ad, or why it can't. */
export interface PreviewAnswer {
  trueward: 'ready' | 'shown' | 'failed';
  reason?: string;
}

/** The sizes that an ad is shown in: a desktop window, a small one, a phone. */
export const previewSizes = [
  { width: 1280, height: 720 },
  { width: 800, height: 600 },
  { width: 360, height: 640 },
] as const;
