import type { ShowResult } from '../outcome.ts';

/** A call to show an ad. */
interface ShownRequest {
  placement: string;
}

/**
 * The `document` property that holds the request whose ad is on the screen. Every copy of this script uses the same
 * symbol.
 */
const shownAd: unique symbol = Symbol.for('trueward.shownAd') as never;

/** Returns the request whose ad is being requested or shown on this page, by any instance or copy of this script. */
export const findShownAd = (): ShownRequest | undefined =>
  (document as { [shownAd]?: ShownRequest })[shownAd];

/**
 * Marks the page as showing this request's ad, until the returned function is called. Returns the result of the request
 * instead if another ad is being requested or shown.
 */
export function occupyPage(request: ShownRequest): (() => void) | ShowResult {
  const page: { [shownAd]?: ShownRequest } = document as object;
  const other = page[shownAd];
  if (other)
    return { outcome: 'already_showing', detail: `The ad for ${other.placement} has not ended.` };
  page[shownAd] = request;
  return () => {
    if (page[shownAd] === request) delete page[shownAd];
  };
}
