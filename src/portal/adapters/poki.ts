import type { PortalAdapter } from '../adapter.ts';
import { loadScript } from './load-script.ts';

/** The parts of Poki's SDK v2 that we use, as documented in November 2026. */
interface PokiSdk {
  init(): Promise<void>;
  commercialBreak(onStart: () => void): Promise<void>;
  rewardedBreak(options: { onStart: () => void }): Promise<boolean>;
  gameLoadingFinished(): void;
  gameplayStart(): void;
  gameplayStop(): void;
  getToken?(): Promise<string>;
  getLanguage?(): string;
}

export function createAdapter(): PortalAdapter {
  let sdk: PokiSdk;
  return {
    name: 'poki',
    async load() {
      sdk = await loadScript('https://game-cdn.poki.com/scripts/v2/poki-sdk.js', 'PokiSDK');
      // It rejects with an ad blocker, and wants the game to go on.
      await sdk.init().catch(() => undefined);
    },
    async show(kind, _placement, { onStart }) {
      let started = false;
      const start = (): void => {
        started = true;
        onStart();
      };
      if (kind === 'interstitial') {
        await sdk.commercialBreak(start);
        return started ? 'completed' : 'no_fill';
      }
      // `false` stands for both an ad that was closed and no ad at all.
      const earned = await sdk.rewardedBreak({ onStart: start });
      if (earned === true) return 'completed';
      return started ? 'dismissed' : 'no_fill';
    },
    playerToken: () => sdk.getToken?.(),
    language: () => sdk.getLanguage?.(),
    gameplayStart: () => sdk.gameplayStart(),
    gameplayStop: () => sdk.gameplayStop(),
    loadingFinished: () => sdk.gameLoadingFinished(),
  };
}
