import { type Banner, mountBanner } from '../creative/banner.ts';
import type { ShowResult } from '../outcome.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { BreakParts } from './run-ad-break.ts';

/** Asks for a house ad and puts it into `element`; the game goes on meanwhile. */
export function showBanner(
  parts: Pick<BreakParts, 'take' | 'enqueue' | 'clock'>,
  placement: string,
  element: HTMLElement,
): Banner {
  const removed = new AbortController();

  async function show(): Promise<ShowResult> {
    const ad = await parts.take(placement, removed.signal);
    if (!('creative' in ad)) return ad;
    const { creative, decision } = ad;
    if (removed.signal.aborted) {
      creative.destroy();
      return { outcome: 'aborted', decisionId: decision.id };
    }
    const report = (type: NewAdEvent['type'], more: Partial<NewAdEvent> = {}): void => {
      void parts.enqueue({ type, decision_id: decision.id, token: decision.token, ...more });
    };
    const unmount = mountBanner(element, creative, {
      clock: parts.clock,
      clickUrl: decision.creative.click_url,
      hooks: {
        painted: () => report('start'),
        viewed: (visible) => report('impression', { visible }),
        clicked: () => report('click'),
        failed: (detail) => report('error', { detail }),
      },
    });
    removed.signal.addEventListener('abort', () => {
      unmount();
      report('close');
    });
    return { outcome: 'completed', decisionId: decision.id };
  }

  return { result: show(), remove: () => removed.abort() };
}
