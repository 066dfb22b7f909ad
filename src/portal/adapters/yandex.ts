import type { PortalAdapter } from '../adapter.ts';
import { loadScript } from './load-script.ts';
import { messageOf } from '../../platform/guard.ts';

/** The parts of Yandex Games' SDK that we use, as documented in November 2026. */
interface YandexSdk {
  adv: {
    showFullscreenAdv(options: { callbacks: Callbacks }): void;
    showRewardedVideo(options: { callbacks: Callbacks }): void;
  };
  features?: {
    LoadingAPI?: { ready(): void };
    GameplayAPI?: { start(): void; stop(): void };
  };
  environment?: { i18n?: { lang?: string } };
  getPlayer(options: { signed: boolean }): Promise<{ signature?: string }>;
  on?(event: string, listener: () => void): void;
  off?(event: string, listener: () => void): void;
}

interface Callbacks {
  onOpen(): void;
  onRewarded?(): void;
  onClose(wasShown?: boolean): void;
  onError(error?: unknown): void;
  onOffline?(): void;
}

export function createAdapter(): PortalAdapter {
  let sdk: YandexSdk;
  return {
    name: 'yandex',
    async load() {
      const yaGames = await loadScript<{ init(): Promise<YandexSdk> }>('/sdk.js', 'YaGames');
      sdk = await yaGames.init();
    },
    show: (kind, _placement, { onEarned, onStart }) =>
      new Promise((resolve) => {
        let opened = false;
        const callbacks: Callbacks = {
          onOpen() {
            opened = true;
            onStart();
          },
          onRewarded: onEarned,
          onClose(wasShown = opened) {
            if (kind === 'interstitial') resolve(wasShown ? 'completed' : 'capped');
            // An earned reward has been reported by now.
            else resolve(opened ? 'dismissed' : 'no_fill');
          },
          onError: (error) => resolve({ result: 'error', detail: messageOf(error) }),
          onOffline: () => resolve('offline'),
        };
        if (kind === 'interstitial') sdk.adv.showFullscreenAdv({ callbacks });
        else sdk.adv.showRewardedVideo({ callbacks });
      }),
    pauseSignals({ pause, resume }) {
      sdk.on?.('game_api_pause', pause);
      sdk.on?.('game_api_resume', resume);
      return () => {
        sdk.off?.('game_api_pause', pause);
        sdk.off?.('game_api_resume', resume);
      };
    },
    playerToken: async () => (await sdk.getPlayer({ signed: true })).signature,
    language: () => sdk.environment?.i18n?.lang,
    gameplayStart: () => sdk.features?.GameplayAPI?.start(),
    gameplayStop: () => sdk.features?.GameplayAPI?.stop(),
    loadingFinished: () => sdk.features?.LoadingAPI?.ready(),
  };
}
