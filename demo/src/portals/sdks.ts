import type { Stage } from './stage.ts';

const install = (name: string, sdk: unknown): void => void Reflect.set(globalThis, name, sdk);

/** Puts a portal's SDK into the page, by the portal's name. */
export const sdks: Record<string, (stage: Stage) => void> = {
  crazygames({ isMuted, listeners, run, told }) {
    const codes = {
      no_fill: 'unfilled',
      capped: 'adCooldown',
      blocked: 'adblock',
      failure: 'other',
    };
    const settings = {
      get muteAudio() {
        return isMuted();
      },
    };
    install('CrazyGames', {
      SDK: {
        environment: 'crazygames',
        init: async () => told.push('init'),
        ad: {
          requestAd: (
            type: string,
            on: { adStarted(): void; adFinished(): void; adError(error: object): void },
          ) =>
            run(type === 'rewarded' ? type : 'interstitial', {
              started: on.adStarted,
              ended: (isWatched) =>
                isWatched ? on.adFinished() : on.adError({ code: 'other', message: 'closed' }),
              failed: (answer) => on.adError({ code: codes[answer], message: 'No ad' }),
            }),
        },
        game: {
          settings,
          addSettingsChangeListener: (listener: (value: object) => void) =>
            (listeners.audio = () => listener(settings)),
          removeSettingsChangeListener: () => (listeners.audio = () => undefined),
          gameplayStart: () => told.push('gameplayStart'),
          gameplayStop: () => told.push('gameplayStop'),
          loadingStop: () => told.push('loadingFinished'),
        },
        user: { getUserToken: async () => 'crazygames-token', systemInfo: { locale: 'de-DE' } },
      },
    });
  },

  poki({ run, told }) {
    const show = (kind: 'rewarded' | 'interstitial', onStart: () => void): Promise<boolean> =>
      new Promise((resolve, reject) =>
        run(kind, {
          started: onStart,
          ended: resolve,
          // No fill, a cap and a blocker all look like this.
          failed: (answer) => (answer === 'failure' ? reject(new Error('failed')) : resolve(false)),
        }),
      );
    install('PokiSDK', {
      // As with an ad blocker.
      init: () => Promise.reject(new Error('blocked')),
      commercialBreak: (onStart: () => void) => show('interstitial', onStart).then(() => undefined),
      rewardedBreak: ({ onStart }: { onStart: () => void }) => show('rewarded', onStart),
      gameLoadingFinished: () => told.push('loadingFinished'),
      gameplayStart: () => told.push('gameplayStart'),
      gameplayStop: () => told.push('gameplayStop'),
      getToken: async () => 'poki-token',
      getLanguage: () => 'de',
    });
  },

  gamedistribution({ listeners, run }) {
    const options: { gameId: string; onEvent?: (event: { name: string }) => void } = {
      gameId: 'demo',
    };
    const emit = (name: string): void => options.onEvent?.({ name });
    const texts = {
      no_fill: 'No ad inventory available',
      capped: 'The advertisement was requested too soon',
      blocked: 'An ad blocker was found',
      failure: 'Something went wrong',
    };
    install('GD_OPTIONS', options);
    install('gdsdk', {
      preloadAd: async () => undefined,
      showAd: (kind: 'rewarded' | 'interstitial') =>
        new Promise<void>((resolve, reject) =>
          run(kind, {
            started: () => emit('SDK_GAME_PAUSE'),
            earned: () => emit('SDK_REWARDED_WATCH_COMPLETE'),
            ended() {
              emit('SDK_GAME_START');
              resolve();
            },
            failed: (answer) => reject(texts[answer]),
          }),
        ),
    });
    listeners.pause = () => emit('SDK_GAME_PAUSE');
    listeners.resume = () => emit('SDK_GAME_START');
  },

  google_h5: (stage) => {
    const adBreak = createAdBreak(stage);
    install('adsbygoogle', {
      push(entry: AdBreakOptions & { onReady?: () => void }) {
        if (entry.type) adBreak(entry);
        else queueMicrotask(() => entry.onReady?.());
      },
    });
  },

  gamesnacks(stage) {
    const { isMuted, listeners, told } = stage;
    install('GameSnacks', {
      ad: { break: createAdBreak(stage) },
      audio: {
        isEnabled: () => !isMuted(),
        subscribe: (listener: (isEnabled: boolean) => void) => (listeners.audio = listener),
      },
      game: {
        onPause: (listener: () => void) => (listeners.pause = listener),
        onResume: (listener: () => void) => (listeners.resume = listener),
        firstFrameReady: () => undefined,
        ready: () => told.push('loadingFinished'),
      },
    });
  },

  yandex({ listeners, run, told }) {
    type On = Partial<
      Record<'onOpen' | 'onRewarded' | 'onOffline', () => void> & {
        onClose(wasShown?: boolean): void;
        onError(error: unknown): void;
      }
    >;
    const show = (kind: 'rewarded' | 'interstitial', { callbacks: on }: { callbacks: On }): void =>
      run(kind, {
        started: () => on.onOpen?.(),
        earned: () => on.onRewarded?.(),
        ended: () => on.onClose?.(kind === 'interstitial' ? true : undefined),
        failed(answer) {
          if (answer === 'failure') on.onError?.(new Error('failed'));
          else on.onClose?.(kind === 'interstitial' ? false : undefined);
        },
      });
    const events: Record<string, 'pause' | 'resume'> = {
      game_api_pause: 'pause',
      game_api_resume: 'resume',
    };
    install('YaGames', {
      init: async () => ({
        adv: {
          showFullscreenAdv: (options: { callbacks: On }) => show('interstitial', options),
          showRewardedVideo: (options: { callbacks: On }) => show('rewarded', options),
        },
        features: {
          LoadingAPI: { ready: () => told.push('loadingFinished') },
          GameplayAPI: {
            start: () => told.push('gameplayStart'),
            stop: () => told.push('gameplayStop'),
          },
        },
        environment: { i18n: { lang: 'de' } },
        getPlayer: async () => ({ signature: 'yandex-token' }),
        on: (event: string, listener: () => void) => {
          const name = events[event];
          if (name) listeners[name] = listener;
        },
        off: (event: string) => {
          const name = events[event];
          if (name) listeners[name] = () => undefined;
        },
      }),
    });
  },

  facebook({ run, told }) {
    const codes = {
      no_fill: 'ADS_NO_FILL',
      capped: 'RATE_LIMITED',
      blocked: 'CLIENT_UNSUPPORTED_OPERATION',
      failure: 'INVALID_OPERATION',
    };
    const fail = (code: string) => Object.assign(new Error('No ad'), { code });
    let instances = 0;
    const create = async (kind: 'rewarded' | 'interstitial') => {
      instances += 1;
      if (instances > 3) throw fail('ADS_TOO_MANY_INSTANCES');
      return {
        loadAsync: async () => undefined,
        showAsync: () =>
          new Promise<void>((resolve, reject) =>
            run(kind, {
              ended: (isWatched) => (isWatched ? resolve() : reject(fail('USER_INPUT'))),
              failed: (answer) => reject(fail(codes[answer])),
            }),
          ),
      };
    };
    install('FBInstant', {
      initializeAsync: async () => undefined,
      startGameAsync: async () => told.push('loadingFinished'),
      setLoadingProgress: () => undefined,
      getLocale: () => 'de_DE',
      getRewardedVideoAsync: () => create('rewarded'),
      getInterstitialAdAsync: () => create('interstitial'),
      player: {
        getSignedPlayerInfoAsync: async () => ({ getSignature: () => 'facebook-token' }),
      },
    });
  },

  youtube({ isMuted, listeners, run, told }) {
    const show = (kind: 'rewarded' | 'interstitial'): Promise<boolean> =>
      new Promise((resolve, reject) =>
        run(kind, {
          ended: resolve,
          failed: (answer) => reject(answer === 'no_fill' ? undefined : new Error('UNKNOWN')),
        }),
      );
    install('ytgame', {
      ads: {
        requestInterstitialAd: () => show('interstitial').then(() => undefined),
        requestRewardedAd: () => show('rewarded'),
      },
      game: { firstFrameReady: () => undefined, gameReady: () => told.push('loadingFinished') },
      system: {
        isAudioEnabled: () => !isMuted(),
        onAudioEnabledChange: (listener: (isEnabled: boolean) => void) =>
          (listeners.audio = listener),
        onPause: (listener: () => void) => (listeners.pause = listener),
        onResume: (listener: () => void) => (listeners.resume = listener),
        getLanguage: async () => 'de',
      },
    });
  },
};

interface AdBreakOptions {
  type?: string;
  beforeAd?(): void;
  afterAd?(): void;
  beforeReward?(show: () => void): void;
  adDismissed?(): void;
  adViewed?(): void;
  adBreakDone?(info: { breakStatus: string }): void;
}

function createAdBreak({ run }: Stage): (on: AdBreakOptions) => void {
  const statuses = {
    no_fill: 'noAdPreloaded',
    capped: 'frequencyCapped',
    blocked: 'other',
    failure: 'error',
  };
  return (on) => {
    const isReward = on.type === 'reward';
    const done = (breakStatus: string): void => on.adBreakDone?.({ breakStatus });
    run(isReward ? 'rewarded' : 'interstitial', {
      ...(isReward && { offered: (show) => on.beforeReward?.(show) }),
      started: () => on.beforeAd?.(),
      earned: () => on.adViewed?.(),
      ended(isWatched) {
        if (!isWatched) on.adDismissed?.();
        on.afterAd?.();
        done(isWatched ? 'viewed' : 'dismissed');
      },
      failed: (answer) => done(statuses[answer]),
    });
  };
}

/** Every global variable that a stand-in may define. */
export const standInGlobals = [
  'CrazyGames',
  'PokiSDK',
  'GD_OPTIONS',
  'gdsdk',
  'adsbygoogle',
].concat(['GameSnacks', 'YaGames', 'FBInstant', 'ytgame']);
