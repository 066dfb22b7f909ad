import type { RequestOptions } from '../options.ts';
import type { ReadyAd } from '../decision/decisions.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import type { Rewards } from '../reward/rewards.ts';
import type { BreakKind } from './machine.ts';
import { type AdSource, obtain } from './obtain.ts';

export type { BreakKind } from './machine.ts';

/** One call to show an ad. */
export interface BreakRequest extends RequestOptions {
  placement: string;
  kind: BreakKind;
  /** Whether the ad starts without sound. */
  muted?: boolean | undefined;
  /** Ends the break with `aborted`, whatever it is at. */
  signal?: AbortSignal;
  /** The game is held, and the ad is about to cover it. */
  onOpen?: () => void;
  /** The first frame of the ad is on the screen. */
  onStart?: () => void;
  /** The ad is gone, and the game goes on. */
  onClose?: () => void;
}

/** Shows one ad that is there. */
export type ShowAd = (parts: ShowParts, request: BreakRequest, ad: ReadyAd) => Promise<ShowResult>;

export interface ShowParts extends Pick<AdSource, 'clock'> {
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  rewards: Pick<Rewards, 'track' | 'watched' | 'confirmation'>;
  engine: EngineDriver;
  /** How long the service's word on a reward is waited for, in milliseconds. */
  confirmationTimeoutMs: number;
}

export interface BreakParts extends AdSource, ShowParts {
  /** Fetches the code that shows ads, which is not needed before. */
  loadShowAd(): Promise<ShowAd>;
}

/** Shows one ad, from the request to its only result. Never rejects. */
export async function runAdBreak(parts: BreakParts, request: BreakRequest): Promise<ShowResult> {
  const found = await obtain(parts, { ...request, format: request.kind }, parts.loadShowAd);
  return 'ad' in found ? found.code(parts, request, found.ad) : found;
}
