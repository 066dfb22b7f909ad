import type { OverlayText } from '../creative/strings.ts';
import type { RequestOptions } from '../options.ts';
import type { ShowResult } from '../outcome.ts';
import { has } from '../platform/guard.ts';
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
}

/**
 * The `document` property that holds the request whose ad is on the screen. Every copy of this script uses the same
 * symbol.
 */
const shownAd: unique symbol = Symbol.for('trueward.shownAd') as never;

/** Returns the request whose ad is being requested or shown on this page, by any instance or copy of this script. */
export const findShownAd = (): BreakRequest | undefined =>
  (document as { [shownAd]?: BreakRequest })[shownAd];

/**
 * Runs one ad break, from the request to the result: requests an ad and shows it. Runs at most one ad break at a time
 * on this page, across all instances and copies of this script. Never rejects for an ad-related reason.
 */
export async function runAdBreak(deps: BreakDeps, request: BreakRequest): Promise<ShowResult> {
  const page: { [shownAd]?: BreakRequest } = document as object;
  const otherRequest = page[shownAd];
  if (otherRequest)
    return {
      outcome: 'already_showing',
      detail: `The ad for ${otherRequest.placement} has not ended.`,
    };
  page[shownAd] = request;
  const release = () => {
    if (page[shownAd] === request) delete page[shownAd];
  };
  try {
    const ad = await obtainAd(deps, { ...request, format: request.kind }, deps.text.ready);
    if (!has(ad, 'creative')) return ad;
    const showRequest: ShowRequest = {
      ...request,
      muted: request.muted ?? deps.muted,
      onSoundChosen: (muted) => (deps.muted = muted),
      onClose() {
        release();
        request.onClose?.();
      },
    };
    return await runMachine({ ...deps, strings: deps.text.strings() }, showRequest, ad);
  } finally {
    release();
  }
}
