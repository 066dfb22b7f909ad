import type { BreakDeps } from '../ad-break/run-ad-break.ts';
import type { LoadedCreative } from '../creative/renderer.ts';
import type { FilledDecision, NoPageAd } from '../decision/request-ad.ts';
import type { AdsOptions } from '../options.ts';
import { createDeadline, type Deadline, runWithTimeout } from '../platform/clock.ts';
import { messageOf, reportUncaught, toList } from '../platform/guard.ts';
import { loadPart } from '../platform/load-part.ts';
import { listen } from '../platform/native.ts';
import type { PortalAdapter } from './adapter.ts';
import { adapters } from './adapters/index.ts';
import { createHold, type HoldDeps } from './hold-game.ts';
import { showPageAd } from './show-page-ad.ts';

/** How long an ad SDK that had no ad for a placement is not asked again, in milliseconds. */
const restMs = 30_000;
/** Delay before an ad SDK that could not be loaded is tried again, in milliseconds. Each later delay is twice as long. */
const firstRetryMs = 30_000;

export interface PageAdsDeps extends Omit<BreakDeps, 'showInPage'>, HoldDeps {
  pageAds: AdsOptions['pageAds'];
  /** Counts an ad that has begun. */
  onShown(decisionId: string): void;
  /** Ends when the ads are destroyed. */
  signal: AbortSignal;
}

/** The ad SDKs in a page of your own, whose ads the service may choose. */
export interface PageAds {
  /** Returns the names of the ad SDKs that are ready to show an ad. */
  list(placement: string): string[];
  /**
   * Prepares the ad of an ad SDK. Rejects with {@link NoPageAd} if it has none. Returns undefined for any other decision.
   */
  load(decision: FilledDecision, signal: AbortSignal): Promise<LoadedCreative> | undefined;
  /** Shows an ad that has been prepared. Returns undefined for any other ad. */
  run: NonNullable<BreakDeps['showInPage']>;
}

/** Loads the ad SDKs. Each of them takes part in decisions as soon as it is ready. */
export function connectPageAds(deps: PageAdsDeps): PageAds {
  const { clock, enqueue, loadTimeoutMs, signal } = deps;
  const hold = createHold(deps);
  const ready = new Map<string, PortalAdapter>();
  /** Until when an ad SDK is not asked for a placement's ad. */
  const rests = new Map<string, Deadline>();
  const isResting = (name: string, placement: string): boolean =>
    rests.get(`${name} ${placement}`)?.passed() === false;

  async function connect(given: unknown, retryMs: number): Promise<void> {
    try {
      const { load, name, show } = Object(given) as Partial<PortalAdapter>;
      if (given === 'google_h5') {
        const create = await loadPart(adapters[given], 'createAdapter', { clock, signal });
        const adapter = create(given);
        await adapter.load();
        ready.set(given, adapter);
      } else if (isName(name) && typeof load === 'function' && typeof show === 'function') {
        await load.call(given);
        ready.set(`custom:${name}`, given as PortalAdapter);
      } else reportUncaught(new TypeError(describeMistake(given)));
    } catch (error) {
      if (signal.aborted) return;
      if (retryMs === firstRetryMs)
        reportUncaught(
          new Error(`trueward: an ad SDK in \`pageAds\` could not be loaded: ${messageOf(error)}`),
        );
      const cancel = clock.after(retryMs, () => void connect(given, retryMs * 2));
      listen(signal, 'abort', cancel);
    }
  }
  const given: unknown = deps.pageAds;
  if (Array.isArray(given)) for (const adapter of given) void connect(adapter, firstRetryMs);
  else reportUncaught(new TypeError(describeMistake(given)));

  /** Reports that there is no ad, and lets others take their turn. */
  function reportNoAd(decision: FilledDecision, name: string, detail: string): void {
    rests.set(`${name} ${decision.placement}`, createDeadline(clock, restMs));
    enqueue({
      type: 'error',
      decision_id: decision.id,
      token: decision.token,
      detail: detail.slice(0, 256),
    }).catch(reportUncaught);
  }

  async function prepare(
    decision: FilledDecision,
    name: string,
    loadSignal: AbortSignal,
  ): Promise<LoadedCreative> {
    const adapter = isResting(name, decision.placement) ? undefined : ready.get(name);
    let detail = adapter ? '' : 'not_ready';
    // An interstitial can't be asked for without showing it.
    if (adapter?.preload && decision.format === 'rewarded') {
      const answer = await runWithTimeout(clock, loadTimeoutMs / 2, loadSignal, async () => ({
        isLoaded: await adapter.preload?.('rewarded', decision.placement),
      }));
      if (typeof answer === 'string') detail = answer;
      else if (answer.isLoaded === false) detail = 'no_fill';
    }
    loadSignal.throwIfAborted();
    if (!detail) return placeholder();
    reportNoAd(decision, name, detail);
    throw new Error('no_page_ad' satisfies NoPageAd);
  }

  return {
    list: (placement) =>
      toList(ready.keys())
        .filter((name) => !isResting(name, placement))
        .slice(0, maxAdapters),
    load(decision, loadSignal) {
      const { media } = decision.creative;
      return media.format === 'page' ? prepare(decision, media.adapter, loadSignal) : undefined;
    },
    run(request, ad, next) {
      const { media } = ad.decision.creative;
      if (media.format !== 'page') return undefined;
      const adapter = ready.get(media.adapter);
      return adapter
        ? showPageAd(
            {
              ...deps,
              hold,
              adapter,
              reportNoAd: (decision, detail) => reportNoAd(decision, media.adapter, detail),
            },
            request,
            ad,
            next,
          )
        : undefined;
    },
  };
}

/** As many ad SDKs as a request may list. */
const maxAdapters = 8;

const isName = (name: unknown): name is string =>
  typeof name === 'string' && /^[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?$/.test(name);

function describeMistake(given: unknown): string {
  const { name } = Object(given) as { name?: unknown };
  const actual = JSON.stringify(name ?? given)?.slice(0, 60) ?? typeof given;
  return (
    'trueward: the option `pageAds` must be a list of `google_h5` and adapters with load(), show() and a name of up to ' +
    `32 lowercase letters, digits, hyphens and underscores; got ${actual}.`
  );
}

/** Stands for an ad of which nothing is ours. */
function placeholder(): LoadedCreative {
  const nothing = (): void => undefined;
  return {
    element: document.createElement('div'),
    durationMs: 0,
    start: nothing,
    pause: nothing,
    resume: nothing,
    setMuted: nothing,
    destroy: nothing,
  };
}
