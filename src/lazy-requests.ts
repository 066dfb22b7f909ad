import type { NoAd } from './decision/no-ad.ts';
import { runWithTimeout, type NoResult } from './platform/clock.ts';
import type { Requests, RequestsDeps } from './requests.ts';

const notLoaded: Record<NoResult, NoAd> = {
  aborted: { outcome: 'aborted' },
  failed: { outcome: 'error', reason: 'chunk_not_loaded' },
  timeout: { outcome: 'timeout', reason: 'load_timeout' },
};

/** {@link Requests} whose code is loaded after the game has started, or on the first request if that comes earlier. */
export interface LazyRequests extends Requests {
  /**
   * Loads the code, so that the first request does not wait for it. If loading fails, that request reports the failure.
   */
  prefetch(): void;
}

/** Creates {@link LazyRequests}. */
export function lazyRequests(deps: RequestsDeps): LazyRequests {
  const { clock, isConsentKnown, isOnline, loadShowAd, loadTimeoutMs } = deps;
  let requests: Requests | undefined;
  let destroyed = false;

  async function load(): Promise<Requests> {
    const { createRequests } = await import('./requests.ts');
    // A concurrent call may have created `requests` first.
    requests ??= createRequests(deps);
    if (destroyed) requests.destroy();
    return requests;
  }

  const ensureLoaded = async (signal: AbortSignal | undefined): Promise<Requests | NoAd> => {
    const result = requests ?? (await runWithTimeout(clock, loadTimeoutMs, signal, load));
    return typeof result === 'string' ? notLoaded[result] : result;
  };

  /**
   * Loads the code that shows ads, in parallel with the request. If loading fails, the call to show the ad reports the
   * failure.
   */
  const prefetchShowAd = (): void => void loadShowAd().catch(() => undefined);

  return {
    prefetch: () => void load().catch(() => undefined),
    async preload(...call) {
      prefetchShowAd();
      const result = await ensureLoaded(call[1]);
      return 'preload' in result
        ? result.preload(...call)
        : { available: false, reason: result.outcome };
    },
    async runBreak(request) {
      const startedAt = clock.monotonic();
      prefetchShowAd();
      const result = await ensureLoaded(request.signal);
      return 'runBreak' in result
        ? result.runBreak(request, clock.monotonic() - startedAt)
        : result;
    },
    async showBanner(...call) {
      const result = await ensureLoaded(call[2]);
      return 'showBanner' in result ? result.showBanner(...call) : result;
    },
    availability(placement) {
      if (requests) return requests.availability(placement);
      if (destroyed) return { available: false, reason: 'aborted' };
      if (!isConsentKnown()) return { available: false, reason: 'not_ready' };
      return isOnline() ? { available: true } : { available: false, reason: 'offline' };
    },
    forget: () => requests?.forget(),
    destroy() {
      destroyed = true;
      requests?.destroy();
    },
  };
}
