import {
  runAdBreak,
  type BreakRequest,
  type ShowAd,
  type ShowDeps,
} from './ad-break/run-ad-break.ts';
import { loadCreative } from './creative/renderer.ts';
import { createDecisions, type Decisions, type DecisionsDeps } from './decision/decisions.ts';
import type { ShowResult } from './outcome.ts';

/** The part of the SDK that a page needs once it requests an ad. */
export interface Requests extends Omit<Decisions, 'take'> {
  /** Shows one ad, from the request to its single result; `waitedMs` of `loadTimeoutMs` have already passed. */
  runBreak(request: BreakRequest, waitedMs?: number): Promise<ShowResult>;
  /** Shows a house ad until `signal` aborts. */
  showBanner(placement: string, element: HTMLElement, signal: AbortSignal): Promise<ShowResult>;
}

export interface RequestsDeps extends Omit<DecisionsDeps, 'loadCreative'>, ShowDeps {
  /** Whether ads start muted unless the call overrides it. */
  muted?: boolean;
  /** Fetches the code that shows ads, which is not needed before there is one. */
  loadShowAd(): Promise<ShowAd>;
}

export function createRequests(deps: RequestsDeps): Requests {
  const { clock, loadTimeoutMs, locale } = deps;
  const { take, ...decisions } = createDecisions({
    ...deps,
    loadCreative: (decision, signal) => loadCreative(decision, { clock, signal, locale }),
  });
  return {
    ...decisions,
    runBreak: (request, waitedMs = 0) =>
      oneAtATime({ ...request, muted: request.muted ?? deps.muted }, (alone) =>
        runAdBreak({ ...deps, take, loadTimeoutMs: loadTimeoutMs - waitedMs }, alone),
      ),
    showBanner: (placement, element, signal) =>
      import('./ad-break/show-banner.ts').then(
        ({ showBanner }) => showBanner({ ...deps, take }, placement, element, signal),
        () => ({ outcome: 'error', reason: 'chunk_not_loaded' }),
      ),
  };
}

/** The ad that the page is showing; every copy of this script uses the same symbol. */
const shownAd: unique symbol = Symbol.for('trueward.shownAd') as never;

/** Shows no ad while another instance, or another copy of this script, shows one on this page. */
async function oneAtATime(
  request: BreakRequest,
  run: (request: BreakRequest) => Promise<ShowResult>,
): Promise<ShowResult> {
  const page: { [shownAd]?: BreakRequest } = document as object;
  const other = page[shownAd];
  if (other)
    return { outcome: 'already_showing', detail: `The ad of ${other.placement} has not ended.` };
  page[shownAd] = request;
  const leave = () => {
    if (page[shownAd] === request) delete page[shownAd];
  };
  const { onClose } = request;
  try {
    return await run({
      ...request,
      onClose() {
        leave();
        onClose?.();
      },
    });
  } finally {
    leave();
  }
}
