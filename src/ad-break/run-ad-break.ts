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
  /** Ends the ad break with the outcome `aborted`. May abort at any time. */
  signal?: AbortSignal;
  /** The game is paused, and the ad is about to cover it. */
  onOpen?: () => void;
  /** The first frame of the ad is on the screen. */
  onStart?: () => void;
  /** The ad has closed, and the game continues. */
  onClose?: () => void;
}

/** Shows a loaded ad. */
export type ShowAd = (deps: ShowDeps, request: BreakRequest, ad: ReadyAd) => Promise<ShowResult>;

export interface ShowDeps extends Pick<AdSource, 'clock'> {
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  rewards: Pick<Rewards, 'track' | 'watched' | 'confirmation'>;
  engine: EngineDriver;
  /** How long to wait for the confirmation of a reward, in milliseconds. */
  confirmationTimeoutMs: number;
}

export interface BreakDeps extends AdSource, ShowDeps {
  /** Loads the code that shows ads. */
  loadShowAd(): Promise<ShowAd>;
}

/** Shows one ad, from the request to its single result. Never rejects. */
export async function runAdBreak(deps: BreakDeps, request: BreakRequest): Promise<ShowResult> {
  // Loaded in parallel with the request but not earlier, because most page views show no ad.
  const loading = deps.loadShowAd();
  const result = await obtain(deps, { ...request, format: request.kind }, loading);
  return 'creative' in result ? (await loading)(deps, request, result) : result;
}

/** The part of an ad break that provides its ad. */
export interface AdSource {
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  clock: Clock;
  /** Combined timeout for requesting and loading an ad, in milliseconds. */
  loadTimeoutMs: number;
}

/**
 * Returns an ad of the requested format once it and the code that shows it (`code`) have loaded. Never rejects, and
 * destroys any ad that it does not return.
 */
export async function obtain(
  { clock, loadTimeoutMs, take }: AdSource,
  request: RequestOptions & { format: string; placement: string; signal?: AbortSignal },
  code: Promise<unknown>,
): Promise<ReadyAd | NoAd> {
  const { format, placement, signal } = request;
  const hasCode = code.then(
    () => true,
    () => false,
  );
  let takenAd: ReadyAd | NoAd | undefined;
  const result = await runWithTimeout(clock, loadTimeoutMs, signal, async (loadSignal) => {
    const ad = (takenAd = await take(placement, loadSignal, request));
    // The ad arrived after the timeout or the abort.
    if (loadSignal.aborted) destroy(ad);
    if (!('creative' in ad)) return ad;
    const { format: actual, id: decisionId } = ad.decision;
    if ((await hasCode) && actual === format) return ad;
    destroy(ad);
    const noAd: NoAd =
      actual === format
        ? { outcome: 'error', reason: 'chunk_not_loaded', decisionId }
        : {
            outcome: 'invalid_placement',
            reason: 'wrong_format',
            detail: `The format of the placement is ${actual}.`,
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
