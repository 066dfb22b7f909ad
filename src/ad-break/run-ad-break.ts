import type { NoAd, ReadyAd } from '../decision/decisions.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import type { RequestOptions } from '../options.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import { bounded, type Clock } from '../platform/clock.ts';
import type { Rewards } from '../reward/rewards.ts';
import type { BreakKind } from './machine.ts';

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
