import type { DecisionCreative, Placement } from '@trueward/protocol/wire';

/** A message from the panel to a preview frame. */
export interface PreviewMessage {
  trueward: 'preview';
  creative: DecisionCreative;
  reward?: Placement['reward'] | undefined;
  format: Placement['format'];
}

/** A message from a preview frame to the panel. Only `failed` has a reason. */
export interface PreviewReply {
  trueward: 'ready' | 'shown' | 'failed';
  reason?: string;
}

/** Preview sizes: a desktop window, a small window, a phone. */
export const previewSizes = [
  { width: 1280, height: 720 },
  { width: 800, height: 600 },
  { width: 360, height: 640 },
] as const;
