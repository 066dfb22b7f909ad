import {
  runAdBreak,
  type BreakRequest,
  type ShowAd,
  type ShowDeps,
} from './ad-break/run-ad-break.ts';
import { loadCreative } from './creative/renderer.ts';
import { createDecisions, type Decisions, type DecisionsDeps } from './decision/decisions.ts';
import type { ShowResult } from './outcome.ts';

/** The part of the SDK that a page doesn't need until it requests an ad. */
export interface Requests extends Omit<Decisions, 'take'> {
  /**
   * Runs one ad break, from the request to the result. `waitedMs` is the part of `loadTimeoutMs` that has already
   * elapsed.
   */
  runBreak(request: BreakRequest, waitedMs?: number): Promise<ShowResult>;
  /** Shows a house ad until `signal` aborts. */
  showBanner(placement: string, element: HTMLElement, signal: AbortSignal): Promise<ShowResult>;
}

export interface RequestsDeps extends Omit<DecisionsDeps, 'loadCreative'>, ShowDeps {
  /** Whether ads start muted unless the call overrides it. */
  muted?: boolean;
  /** Loads the code that shows ads. It is not needed until an ad is requested. */
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
      runExclusively({ ...request, muted: request.muted ?? deps.muted }, (exclusiveRequest) =>
        runAdBreak({ ...deps, take, loadTimeoutMs: loadTimeoutMs - waitedMs }, exclusiveRequest),
      ),
    showBanner: (placement, element, signal) =>
      import('./ad-break/show-banner.ts').then(
        ({ showBanner }) => showBanner({ ...deps, take }, placement, element, signal),
        () => ({ outcome: 'error', reason: 'chunk_not_loaded' }),
      ),
  };
}

/**
 * The `document` property that holds the request whose ad is on the screen. Every copy of this script uses the same
 * symbol.
 */
const shownAd: unique symbol = Symbol.for('trueward.shownAd') as never;

/** Runs at most one ad break at a time on this page, across all instances and copies of this script. */
async function runExclusively(
  request: BreakRequest,
  run: (request: BreakRequest) => Promise<ShowResult>,
): Promise<ShowResult> {
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
  const { onClose } = request;
  try {
    return await run({
      ...request,
      onClose() {
        release();
        onClose?.();
      },
    });
  } finally {
    release();
  }
}
