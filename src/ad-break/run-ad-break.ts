import type { ReadyAd } from '../decision/request-ad.ts';
import type { NoAd } from '../decision/no-ad.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import type { RequestOptions } from '../options.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import { runWithTimeout, type Clock } from '../platform/clock.ts';
import type { Rewards } from '../reward/rewards.ts';
import type { BreakKind } from './machine.ts';

export type { BreakKind } from './machine.ts';

/** One call to show an ad. */
export interface BreakRequest extends RequestOptions {
  placement: string;
  kind: BreakKind;
  /** Whether the ad starts without sound. */
  muted?: boolean | undefined;
  /** Aborting this signal, at any time, ends the ad break with the outcome `aborted`. */
  signal?: AbortSignal;
  /** Called when the game is paused and the ad is about to cover it. */
  onOpen?: () => void;
  /** Called when the ad's first frame is on the screen. */
  onStart?: () => void;
  /** Called when the ad has closed and the game has resumed. */
  onClose?: () => void;
}

/** Shows a loaded ad. */
export type ShowAd = (deps: ShowDeps, request: BreakRequest, ad: ReadyAd) => Promise<ShowResult>;

export interface ShowDeps extends Pick<AdSource, 'clock'> {
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  rewards: Pick<Rewards, 'track' | 'setWatched' | 'confirmation'>;
  engine: EngineDriver;
  /** How long to wait for a reward's confirmation, in milliseconds. */
  confirmationTimeoutMs: number;
}

export interface BreakDeps extends AdSource, ShowDeps {
  /** Loads the code that shows ads. */
  loadShowAd(): Promise<ShowAd>;
}

/** Requests and shows one ad. Resolves with the result and never rejects. */
export async function runAdBreak(deps: BreakDeps, request: BreakRequest): Promise<ShowResult> {
  // Most page views never show an ad, so this code is loaded only when an ad is requested.
  const loading = deps.loadShowAd();
  const result = await obtainAd(deps, { ...request, format: request.kind }, loading);
  return 'creative' in result ? (await loading)(deps, request, result) : result;
}

/** Provides ads for ad breaks and banners. */
export interface AdSource {
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  clock: Clock;
  /** Combined timeout for requesting and loading an ad, in milliseconds. */
  loadTimeoutMs: number;
}

/**
 * Waits for an ad in the requested format and for the code that shows it (`code`), then returns the ad. Never rejects.
 * Destroys any ad that it does not return.
 */
export async function obtainAd(
  { clock, loadTimeoutMs, take }: AdSource,
  request: RequestOptions & { format: string; placement: string; signal?: AbortSignal },
  code: Promise<unknown>,
): Promise<ReadyAd | NoAd> {
  const { format, placement, signal } = request;
  const codeLoaded = code.then(
    () => true,
    () => false,
  );
  let takenAd: ReadyAd | NoAd | undefined;
  const result = await runWithTimeout(clock, loadTimeoutMs, signal, async (loadSignal) => {
    const ad = (takenAd = await take(placement, loadSignal, request));
    // The ad arrived after the timeout or the abort.
    if (loadSignal.aborted) destroy(ad);
    if (!('creative' in ad)) return ad;
    const { format: actualFormat, id: decisionId } = ad.decision;
    if ((await codeLoaded) && actualFormat === format) return ad;
    destroy(ad);
    const noAd: NoAd =
      actualFormat === format
        ? { outcome: 'error', reason: 'chunk_not_loaded', decisionId }
        : {
            outcome: 'invalid_placement',
            reason: 'wrong_format',
            detail: `The placement's format is ${actualFormat}.`,
            decisionId,
          };
    return noAd;
  });
  if (typeof result === 'object') return result;
  if (takenAd) destroy(takenAd);
  if (result === 'timeout') return { outcome: result, reason: 'load_timeout' };
  return { outcome: result === 'failed' ? 'error' : result };
}

function destroy(ad: ReadyAd | NoAd): void {
  if ('creative' in ad) ad.creative.destroy();
}
