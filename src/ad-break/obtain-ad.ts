import type { AdRequestOptions, ReadyAd } from '../decision/request-ad.ts';
import type { NoAd } from '../decision/no-ad.ts';
import { runWithTimeout, type Clock } from '../platform/clock.ts';
import { has } from '../platform/guard.ts';

/** Provides ads for ad breaks and banners. */
export interface AdSource {
  take(placement: string, signal: AbortSignal, options?: AdRequestOptions): Promise<ReadyAd | NoAd>;
  clock: Clock;
  /** Combined timeout for requesting and loading an ad, in milliseconds. */
  loadTimeoutMs: number;
}

/**
 * Waits for an ad in the requested format, and for `alsoNeeded`. Never rejects. Destroys any ad that it does not
 * return.
 */
export async function obtainAd(
  { clock, loadTimeoutMs, take }: AdSource,
  request: AdRequestOptions & { format: string; placement: string; signal?: AbortSignal },
  alsoNeeded?: Promise<void>,
): Promise<ReadyAd | NoAd> {
  const { format, placement, signal } = request;
  let takenAd: ReadyAd | NoAd | undefined;
  const result = await runWithTimeout(clock, loadTimeoutMs, signal, async (loadSignal) => {
    const ad = (takenAd = await take(placement, loadSignal, request));
    // The ad arrived after the timeout or the abort.
    if (loadSignal.aborted) destroy(ad);
    if (!has(ad, 'creative')) return ad;
    const { format: actualFormat, id: decisionId } = ad.decision;
    if (actualFormat === format) {
      await alsoNeeded;
      return ad;
    }
    destroy(ad);
    const noAd: NoAd = {
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
  if (has(ad, 'creative')) ad.creative.destroy();
}
