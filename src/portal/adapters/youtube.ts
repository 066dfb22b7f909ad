import type { PortalAdapter } from '../adapter.ts';
import { requireGlobal } from './load-script.ts';
import { messageOf } from '../../platform/guard.ts';

/** The parts of the YouTube Playables SDK that we use, as documented in November 2026. */
interface YouTubeSdk {
  ads?: {
    requestInterstitialAd(): Promise<void>;
    requestRewardedAd(rewardId: string): Promise<boolean>;
  };
  game: { firstFrameReady(): void; gameReady(): void };
  system: {
    isAudioEnabled(): boolean;
    onAudioEnabledChange(listener: (isEnabled: boolean) => void): unknown;
    onPause(listener: () => void): unknown;
    onResume(listener: () => void): unknown;
    getLanguage?(): Promise<string>;
  };
}

export function createAdapter(): PortalAdapter {
  let sdk: YouTubeSdk;
  return {
    name: 'youtube',
    load() {
      const advice =
        'Add the script tag of https://www.youtube.com/game_api/v1 before the game’s own.';
      sdk = requireGlobal('ytgame', advice);
    },
    async show(kind, placement, { onStart }) {
      if (!sdk.ads) return 'disabled';
      // YouTube doesn't say when an ad begins.
      onStart();
      try {
        if (kind === 'interstitial') await sdk.ads.requestInterstitialAd();
        else if ((await sdk.ads.requestRewardedAd(placement)) !== true) return 'dismissed';
        return 'completed';
      } catch (error) {
        // It often rejects without an error, when it has no ad.
        if (error === undefined) return 'no_fill';
        return { result: 'error', detail: messageOf(error) };
      }
    },
    pauseSignals({ mute, pause, resume, unmute }) {
      const { system } = sdk;
      const follow = (isEnabled = system.isAudioEnabled()): void => (isEnabled ? unmute() : mute());
      follow();
      const stops = [
        system.onAudioEnabledChange(follow),
        system.onPause(pause),
        system.onResume(() => {
          // On some devices, a change of the sound is not reported.
          follow();
          resume();
        }),
      ];
      return () => {
        for (const stop of stops) if (typeof stop === 'function') stop();
      };
    },
    language: () => sdk.system.getLanguage?.(),
    loadingFinished() {
      sdk.game.firstFrameReady();
      sdk.game.gameReady();
    },
  };
}
