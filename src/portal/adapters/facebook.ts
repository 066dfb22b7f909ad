import type { PortalAdapter, PortalAnswer, PortalResult } from '../adapter.ts';
import { requireGlobal } from './load-script.ts';
import { toText } from '../../platform/guard.ts';

/** The parts of Facebook's Instant Games SDK 8.0 that we use, as documented in November 2026. */
interface FacebookSdk {
  initializeAsync(): Promise<void>;
  startGameAsync(): Promise<void>;
  setLoadingProgress(percent: number): void;
  getLocale(): string | null;
  getInterstitialAdAsync(placementId: string): Promise<Instance>;
  getRewardedVideoAsync(placementId: string): Promise<Instance>;
  player: { getSignedPlayerInfoAsync(): Promise<{ getSignature(): string }> };
}

interface Instance {
  loadAsync(): Promise<void>;
  showAsync(): Promise<void>;
}

const results: Record<string, PortalResult> = {
  ADS_NO_FILL: 'no_fill',
  ADS_NOT_LOADED: 'not_ready',
  ADS_TOO_MANY_INSTANCES: 'not_ready',
  ADS_FREQUENT_LOAD: 'capped',
  RATE_LIMITED: 'capped',
  USER_INPUT: 'dismissed',
  NETWORK_FAILURE: 'offline',
  CLIENT_UNSUPPORTED_OPERATION: 'disabled',
};

/** One loaded ad per placement. Each is an instance at Facebook, of which there may be three. */
interface Slot {
  instance: Instance;
  loading?: Promise<void> | undefined;
}

export function createAdapter(): PortalAdapter {
  let sdk: FacebookSdk;
  const slots = new Map<string, Promise<Slot>>();

  async function createSlot(kind: 'rewarded' | 'interstitial', placement: string): Promise<Slot> {
    const create = kind === 'rewarded' ? 'getRewardedVideoAsync' : 'getInterstitialAdAsync';
    return { instance: await sdk[create](placement) };
  }

  /** Loads an ad. An instance is kept and used again, because every new one counts. */
  async function prepare(kind: 'rewarded' | 'interstitial', placement: string): Promise<Slot> {
    const key = `${kind} ${placement}`;
    const creating = slots.get(key) ?? createSlot(kind, placement);
    slots.set(key, creating);
    const slot = await creating.catch((error: unknown) => {
      slots.delete(key);
      throw error;
    });
    slot.loading ??= slot.instance.loadAsync();
    await slot.loading.catch((error: unknown) => {
      slot.loading = undefined;
      throw error;
    });
    return slot;
  }

  return {
    name: 'facebook',
    async load() {
      const advice = 'Add the script tag of fbinstant.8.0.js to the page.';
      sdk = requireGlobal('FBInstant', advice);
      // It rejects if the game has called it too.
      await sdk.initializeAsync().catch(() => undefined);
    },
    async show(kind, placement, { onStart, signal }): Promise<PortalAnswer> {
      try {
        const slot = await prepare(kind, placement);
        if (signal.aborted) return 'error';
        slot.loading = undefined;
        onStart();
        await slot.instance.showAsync();
        return 'completed';
      } catch (error) {
        const { code, message } = (error ?? {}) as { code?: string; message?: string };
        const detail = [code ?? toText(error), message].filter(Boolean).join(': ');
        return { result: results[code ?? ''] ?? 'error', detail };
      }
    },
    preload: (kind, placement) => prepare(kind, placement).then(() => true),
    playerToken: async () => (await sdk.player.getSignedPlayerInfoAsync()).getSignature(),
    language: () => sdk.getLocale(),
    loadingFinished() {
      sdk.setLoadingProgress(100);
      sdk.startGameAsync().catch(() => undefined);
    },
  };
}
