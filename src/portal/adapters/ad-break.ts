import type { PortalAdapter, PortalAnswer, PortalCall, PortalResult } from '../adapter.ts';
import { findGlobal, requireGlobal } from './load-script.ts';

/** An ad break, as documented for Google's Ad Placement API in November 2026. GameSnacks has the same. */
interface AdBreak {
  type: 'reward' | 'next';
  name: string;
  beforeAd?(): void;
  afterAd?(): void;
  beforeReward?(show: () => void): void;
  adDismissed?(): void;
  adViewed?(): void;
  adBreakDone?(info?: { breakStatus?: string }): void;
}

interface GameSnacksSdk {
  ad: { break(adBreak: AdBreak): void };
  audio: { isEnabled(): boolean; subscribe(listener: (isEnabled: boolean) => void): void };
  game: {
    onPause(listener: () => void): void;
    onResume(listener: () => void): void;
    firstFrameReady(): void;
    ready(): void;
  };
}

const results: Record<string, PortalResult> = {
  viewed: 'completed',
  dismissed: 'dismissed',
  notReady: 'not_ready',
  noAdPreloaded: 'no_fill',
  frequencyCapped: 'capped',
  timeout: 'no_fill',
  // Another ad break is in progress, or the player did not ask for this one.
  ignored: 'no_fill',
};

type Name = 'gamesnacks' | 'google_h5';

/** The adapter for everything that has Google's `adBreak()`. */
export function createAdapter(name: Name): PortalAdapter {
  let gameSnacks: GameSnacksSdk;
  const push = (entry: object): void => {
    (findGlobal<object[]>('adsbygoogle') ?? []).push(entry);
  };
  const startBreak = (adBreak: AdBreak): void =>
    name === 'gamesnacks' ? gameSnacks.ad.break(adBreak) : push(adBreak);
  /** Rewarded ads that have been loaded ahead, by placement. */
  const loaded = new Map<string, Prepared>();

  const prepare = (placement: string): Prepared => {
    const prepared = prepareReward(startBreak, placement);
    const forget = (): void => {
      if (loaded.get(placement) === prepared) loaded.delete(placement);
    };
    prepared.done.then(forget, forget);
    return prepared;
  };

  return {
    name,
    async load() {
      if (name === 'gamesnacks')
        gameSnacks = requireGlobal('GameSnacks', 'Add GameSnacks’ script tag to the page.');
      else {
        const google = requireGlobal<{ owner?: string }>(
          'adsbygoogle',
          'Add Google’s script tag with `data-ad-client` to the page.',
        );
        if (google.owner === 'trueward')
          throw new Error(
            'installAdsbygoogle() has taken the place of Google’s API, so its ads can’t be shown. Call adBreak() of createAdPlacement() instead.',
          );
        await new Promise<void>((resolve) =>
          push({ preloadAdBreaks: 'auto', sound: 'on', onReady: resolve }),
        );
      }
    },
    show(kind, placement, call) {
      if (kind === 'interstitial')
        return new Promise((resolve) =>
          startBreak({
            type: 'next',
            name: placement,
            beforeAd: call.onStart,
            adBreakDone: (info) => resolve(readStatus(info, 'completed')),
          }),
        );
      const prepared = loaded.get(placement) ?? prepare(placement);
      loaded.delete(placement);
      return prepared.show(call);
    },
    async preload(kind, placement) {
      if (kind === 'interstitial') return false;
      if (!loaded.has(placement)) loaded.set(placement, prepare(placement));
      return loaded.get(placement)?.isReady;
    },
    ...(name === 'gamesnacks' && {
      pauseSignals({ mute, pause, resume, unmute }) {
        const follow = (isEnabled: boolean): void => (isEnabled ? unmute() : mute());
        follow(gameSnacks.audio.isEnabled());
        gameSnacks.audio.subscribe(follow);
        gameSnacks.game.onPause(pause);
        gameSnacks.game.onResume(resume);
      },
      loadingFinished() {
        gameSnacks.game.firstFrameReady();
        gameSnacks.game.ready();
      },
    }),
  };
}

interface Prepared {
  /** Whether there is an ad. */
  isReady: Promise<boolean>;
  done: Promise<PortalAnswer>;
  show(call: PortalCall): Promise<PortalAnswer>;
}

/** Starts an ad break for a reward. Its ad waits until somebody wants to see it. */
function prepareReward(startBreak: (adBreak: AdBreak) => void, name: string): Prepared {
  let call: PortalCall | undefined;
  let showAd: (() => void) | undefined;
  let onReady: (isReady: boolean) => void;
  const isReady = new Promise<boolean>((resolve) => (onReady = resolve));
  const showIfWanted = (): void => {
    if (call && !call.signal.aborted) showAd?.();
  };
  const done = new Promise<PortalAnswer>((resolve) => {
    let viewed = false;
    startBreak({
      type: 'reward',
      name,
      beforeReward(show) {
        showAd = show;
        onReady(true);
        showIfWanted();
      },
      beforeAd: () => call?.onStart(),
      // Google requires it, although `adBreakDone` says the same.
      adDismissed: () => undefined,
      adViewed() {
        viewed = true;
        call?.onEarned();
      },
      adBreakDone(info) {
        onReady(false);
        resolve(readStatus(info, viewed ? 'completed' : 'no_fill'));
      },
    });
  });
  done.catch(() => onReady(false));
  return {
    isReady,
    done,
    show(given) {
      call = given;
      showIfWanted();
      return done;
    },
  };
}

function readStatus(
  info: { breakStatus?: string } | undefined,
  withoutStatus: PortalResult,
): PortalAnswer {
  const status = info?.breakStatus;
  if (status === undefined) return withoutStatus;
  return { result: results[status] ?? 'error', detail: status };
}
