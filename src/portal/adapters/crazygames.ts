import type { PortalAdapter, PortalResult } from '../adapter.ts';
import { loadScript } from './load-script.ts';
import { toText } from '../../platform/guard.ts';

/** The parts of CrazyGames' HTML5 SDK v3 that we use, as documented in November 2026. */
interface CrazyGamesSdk {
  init(): Promise<void>;
  environment: string;
  ad: {
    requestAd(
      type: 'midgame' | 'rewarded',
      callbacks: {
        adStarted(): void;
        adFinished(): void;
        adError(error?: unknown, data?: unknown): void;
      },
    ): void;
  };
  game: {
    settings?: { muteAudio?: boolean };
    addSettingsChangeListener?(listener: (settings: { muteAudio?: boolean }) => void): void;
    removeSettingsChangeListener?(listener: (settings: { muteAudio?: boolean }) => void): void;
    gameplayStart(): void;
    gameplayStop(): void;
    loadingStop(): void;
  };
  user: { getUserToken(): Promise<string>; systemInfo?: { locale?: string } };
}

const results: Record<string, PortalResult> = {
  unfilled: 'no_fill',
  adblock: 'blocked',
  adCooldown: 'capped',
  // In the first weeks on CrazyGames, a game has no ads.
  adsDisabledBasicLaunch: 'disabled',
};

export function createAdapter(): PortalAdapter {
  let sdk: CrazyGamesSdk;
  return {
    name: 'crazygames',
    async load() {
      const url = 'https://sdk.crazygames.com/crazygames-sdk-v3.js';
      sdk = (await loadScript<{ SDK: CrazyGamesSdk }>(url, 'CrazyGames')).SDK;
      await sdk.init();
      // Any other call would throw.
      if (sdk.environment === 'disabled')
        throw new Error('CrazyGames’ SDK is disabled on this site.');
    },
    show: (kind, _placement, { onStart }) =>
      new Promise((resolve) =>
        sdk.ad.requestAd(kind === 'rewarded' ? kind : 'midgame', {
          adStarted: onStart,
          adFinished: () => resolve('completed'),
          adError(error, data = error) {
            const { code, message } = (data ?? {}) as { code?: string; message?: string };
            const detail = [code ?? toText(error), message].filter(Boolean).join(': ');
            resolve({ result: results[code ?? ''] ?? 'error', detail });
          },
        }),
      ),
    pauseSignals({ mute, unmute }) {
      const follow = (settings?: { muteAudio?: boolean }): void =>
        settings?.muteAudio ? mute() : unmute();
      follow(sdk.game.settings);
      sdk.game.addSettingsChangeListener?.(follow);
      return () => sdk.game.removeSettingsChangeListener?.(follow);
    },
    // Rejects for a player who isn't signed in.
    playerToken: () => sdk.user.getUserToken(),
    language: () => sdk.user.systemInfo?.locale,
    gameplayStart: () => sdk.game.gameplayStart(),
    gameplayStop: () => sdk.game.gameplayStop(),
    loadingFinished: () => sdk.game.loadingStop(),
  };
}
