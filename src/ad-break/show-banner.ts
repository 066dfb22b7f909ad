import { mountBanner } from '../creative/banner.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import { has, reportUncaught, toText } from '../platform/guard.ts';
import { listen } from '../platform/native.ts';
import { type AdSource, obtainAd } from './obtain-ad.ts';

export interface BannerDeps extends AdSource {
  enqueue(event: NewAdEvent): Promise<void>;
  /** Writes a line to the debug log. */
  note(step: string): void;
}

/** Requests a house ad and shows it in `element` until `signal` aborts. The game keeps running. */
export async function showBanner(
  deps: BannerDeps,
  placement: string,
  element: HTMLElement,
  signal: AbortSignal,
): Promise<ShowResult> {
  // Before the request: an ad that can't be shown must not count. An element of another frame is of another class.
  if ((Object(element) as Element).nodeType !== 1) {
    const detail = `mountBanner() must be called with an element of the page; got ${toText(element)}.`;
    return { outcome: 'error', reason: 'option_invalid', detail };
  }
  const request = { format: 'banner', placement, signal };
  const ad = await obtainAd(deps, request);
  if (!has(ad, 'creative')) return ad;
  const { creative, decision } = ad;
  let result: ShowResult = { outcome: 'completed', decisionId: decision.id };
  if (signal.aborted) {
    creative.destroy();
    return { outcome: 'aborted', decisionId: decision.id };
  }
  const report = (type: NewAdEvent['type'], fields: Partial<NewAdEvent> = {}): void => {
    deps
      .enqueue({ type, decision_id: decision.id, token: decision.token, ...fields })
      .catch(reportUncaught);
  };
  let unmount: (() => void) | undefined;
  const end = (): void => {
    stopAbort();
    unmount?.();
    report('close');
  };
  const stopAbort = listen(signal, 'abort', end);
  try {
    unmount = mountBanner(element, creative, {
      clock: deps.clock,
      clickUrl: decision.creative.click_url,
      hooks: {
        painted: () => report('start'),
        unseen: (cause) => deps.note(`banner without impression: ${cause}`),
        viewed: (visible) => report('impression', { visible }),
        clicked: () => report('click'),
        failed(reason) {
          result = { outcome: 'error', reason, decisionId: decision.id };
          report('error', { detail: reason });
          // Otherwise, a failed creative would leave a blank space.
          end();
        },
      },
    });
    // If the creative failed while preloading, the `failed` hook ran before `unmount` was assigned.
    if (result.outcome === 'error') unmount();
  } catch (error) {
    stopAbort();
    creative.destroy();
    const detail = String(error);
    result = { outcome: 'error', reason: 'open_failed', detail, decisionId: decision.id };
  }
  return result;
}
