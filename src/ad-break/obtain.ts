import type { RequestOptions } from '../options.ts';
import type { NoAd, ReadyAd } from '../decision/decisions.ts';
import { bounded } from '../platform/bounded.ts';
import type { Clock } from '../platform/clock.ts';

/** What can get an ad. */
export interface AdSource {
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  clock: Clock;
  /** How long the request and the loading may take together, in milliseconds. */
  loadTimeoutMs: number;
}

/**
 * Gets an ad and the code that shows it, both at once, since most page views show none and need no such
 * code. Never rejects, and leaves no ad behind that nobody takes.
 */
export async function obtain<Code>(
  { clock, loadTimeoutMs, take }: AdSource,
  request: RequestOptions & { format: string; placement: string; signal?: AbortSignal },
  load: () => Promise<Code>,
): Promise<{ ad: ReadyAd; code: Code } | NoAd> {
  const { format, placement, signal } = request;
  let taken: ReadyAd | NoAd | undefined;
  const found = await bounded(clock, loadTimeoutMs, signal, async (inner) => {
    const loading = load().catch(() => undefined);
    const ad = (taken = await take(placement, inner, request));
    // It came although nobody waits any more.
    if (inner.aborted) destroy(ad);
    if (!('creative' in ad)) return ad;
    const { format: actual, id: decisionId } = ad.decision;
    const code = await loading;
    if (code !== undefined && actual === format) return { ad, code };
    destroy(ad);
    const refusal: NoAd =
      actual === format
        ? { outcome: 'error', reason: 'chunk_not_loaded', decisionId }
        : {
            outcome: 'invalid_placement',
            reason: 'wrong_format',
            detail: `The format of the placement is ${actual}.`,
            decisionId,
          };
    return refusal;
  });
  if (typeof found === 'object') return found;
  if (taken) destroy(taken);
  if (found === 'timeout') return { outcome: found, reason: 'load_timeout' };
  return { outcome: found === 'failed' ? 'error' : found };
}

function destroy(ad: ReadyAd | NoAd): void {
  if ('creative' in ad) ad.creative.destroy();
}
