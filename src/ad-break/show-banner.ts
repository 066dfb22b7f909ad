import type { Banner } from '../creative/banner.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import { surface } from './guard.ts';
import { type AdSource, obtain } from './obtain.ts';

/** Asks for a house ad and puts it into `element`; the game goes on meanwhile. */
export function showBanner(
  parts: AdSource & { enqueue(event: NewAdEvent): Promise<void> },
  placement: string,
  element: HTMLElement,
): Banner {
  const removed = new AbortController();
  const { signal } = removed;

  async function show(): Promise<ShowResult> {
    const wanted = { format: 'banner', placement, signal };
    const found = await obtain(parts, wanted, () => import('../creative/banner.ts'));
    if (!('ad' in found)) return found;
    const { creative, decision } = found.ad;
    const result: ShowResult = { outcome: 'completed', decisionId: decision.id };
    if (signal.aborted) {
      creative.destroy();
      return { ...result, outcome: 'aborted' };
    }
    const report = (type: NewAdEvent['type'], more: Partial<NewAdEvent> = {}): void => {
      parts
        .enqueue({ type, decision_id: decision.id, token: decision.token, ...more })
        .catch(surface);
    };
    const unmount = found.code.mountBanner(element, creative, {
      clock: parts.clock,
      clickUrl: decision.creative.click_url,
      hooks: {
        painted: () => report('start'),
        viewed: (visible) => report('impression', { visible }),
        clicked: () => report('click'),
        failed(detail) {
          report('error', { detail });
          // What has failed shows nothing any more, and would only take up room.
          removed.abort();
        },
      },
    });
    signal.addEventListener(
      'abort',
      () => {
        unmount();
        report('close');
      },
      { once: true },
    );
    return result;
  }

  return { result: show(), remove: () => removed.abort() };
}
