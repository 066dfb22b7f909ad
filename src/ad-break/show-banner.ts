import { mountBanner } from '../creative/banner.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import { surface } from '../platform/guard.ts';
import { type AdSource, obtain } from './run-ad-break.ts';

export interface BannerParts extends AdSource {
  enqueue(event: NewAdEvent): Promise<void>;
}

/** Asks for a house ad and puts it into `element` until `signal` aborts; the game goes on meanwhile. */
export async function showBanner(
  parts: BannerParts,
  placement: string,
  element: HTMLElement,
  signal: AbortSignal,
): Promise<ShowResult> {
  const wanted = { format: 'banner', placement, signal };
  const found = await obtain(parts, wanted, async () => mountBanner);
  if (!('ad' in found)) return found;
  const { creative, decision } = found.ad;
  let result: ShowResult = { outcome: 'completed', decisionId: decision.id };
  if (signal.aborted) {
    creative.destroy();
    return { ...result, outcome: 'aborted' };
  }
  const report = (type: NewAdEvent['type'], more: Partial<NewAdEvent> = {}): void => {
    parts
      .enqueue({ type, decision_id: decision.id, token: decision.token, ...more })
      .catch(surface);
  };
  let unmount: (() => void) | undefined;
  const end = (): void => {
    signal.removeEventListener('abort', end);
    unmount?.();
    report('close');
  };
  signal.addEventListener('abort', end);
  try {
    unmount = mountBanner(element, creative, {
      clock: parts.clock,
      clickUrl: decision.creative.click_url,
      hooks: {
        painted: () => report('start'),
        viewed: (visible) => report('impression', { visible }),
        clicked: () => report('click'),
        failed(reason) {
          result = { ...result, outcome: 'error', reason };
          report('error', { detail: reason });
          // What has failed shows nothing any more, and would only take up room.
          end();
        },
      },
    });
    // One that had failed while it waited says so before it is there.
    if (result.outcome === 'error') unmount();
  } catch (error) {
    signal.removeEventListener('abort', end);
    creative.destroy();
    result = { ...result, outcome: 'error', reason: 'open_failed', detail: String(error) };
  }
  return result;
}
