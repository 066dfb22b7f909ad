import type { OverlayText } from '../creative/strings.ts';
import type { RequestOptions } from '../options.ts';
import type { ShowResult } from '../outcome.ts';
import { has } from '../platform/guard.ts';
import type { AdRequestOptions, ReadyAd } from '../decision/request-ad.ts';
import { type AdSource, obtainAd } from './obtain-ad.ts';
import { type MachineDeps, runMachine, type ShowRequest } from './run-machine.ts';

export type { BreakKind } from './machine.ts';

/** One call to show an ad. */
export interface BreakRequest extends RequestOptions, ShowRequest {
  placement: string;
}

export interface BreakDeps extends AdSource, Omit<MachineDeps, 'strings'> {
  text: OverlayText;
  /** Whether ads start muted unless the call overrides it. Follows the player's last choice. */
  muted?: boolean;
  /**
   * Lets an ad SDK in the page show its ad. Returns undefined for any other ad.
   *
   * @param next for an ad SDK that has no ad after all
   */
  showInPage?(request: BreakRequest, ad: ReadyAd, next: NextAd): Promise<ShowResult> | undefined;
}

/** Goes on with another ad, which is none of an ad SDK in the page. */
export interface NextAd {
  obtain(): Promise<ReadyAd | ShowResult>;
  /** Shows an ad in the overlay. */
  show(request: BreakRequest, ad: ReadyAd): Promise<ShowResult>;
}

/** Runs one ad break, from the request to the result: requests an ad and shows it. Never rejects for an ad-related reason. */
export async function runAdBreak(deps: BreakDeps, request: BreakRequest): Promise<ShowResult> {
  const obtain = (options?: AdRequestOptions) =>
    obtainAd(deps, { ...request, ...options, format: request.kind }, deps.text.ready);
  const next: NextAd = {
    obtain: () => obtain({ withoutPageAds: true }),
    show: (nextRequest, nextAd) =>
      runMachine({ ...deps, strings: deps.text.strings() }, nextRequest, nextAd),
  };
  const ad = await obtain();
  if (!has(ad, 'creative')) return ad;
  const showRequest: BreakRequest = {
    ...request,
    muted: request.muted ?? deps.muted,
    onSoundChosen: (muted) => (deps.muted = muted),
  };
  return deps.showInPage?.(showRequest, ad, next) ?? next.show(showRequest, ad);
}
