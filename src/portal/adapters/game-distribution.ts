import type { PortalAdapter, PortalCall, PortalResult, PortalSignals } from '../adapter.ts';
import { findGlobal, loadScript } from './load-script.ts';
import { callGuarded, messageOf } from '../../platform/guard.ts';

/** The parts of GameDistribution's SDK 1.43 that we use, as documented in November 2026. */
interface GdSdk {
  preloadAd(type: string): Promise<unknown>;
  showAd(type: string): Promise<unknown>;
}

interface GdOptions {
  gameId?: string;
  onEvent?: (event: { name: string }) => void;
}

/** What it rejects with is a text. */
const results: [RegExp, PortalResult][] = [
  [/block/i, 'blocked'],
  [/too (?:soon|often|early)|frequen|cool/i, 'capped'],
  [/no (?:ad|fill|inventory)|empty|unable to|not available|unavailable/i, 'no_fill'],
];

export function createAdapter(): PortalAdapter {
  let sdk: GdSdk;
  let signals: PortalSignals | undefined;
  /** The calls that haven't ended, oldest first. The events don't say which one they belong to. */
  const calls: (PortalCall & { started?: boolean; earned?: boolean })[] = [];

  function onEvent(name: string): void {
    if (name === 'SDK_GAME_PAUSE') {
      signals?.pause();
      const call = calls.find(({ started }) => !started);
      if (!call) return;
      call.started = true;
      call.onStart();
    } else if (name === 'SDK_GAME_START') {
      signals?.resume();
    } else if (name === 'SDK_REWARDED_WATCH_COMPLETE') {
      const call = calls.find(({ earned }) => !earned);
      if (!call) return;
      call.earned = true;
      call.onEarned();
    }
  }

  return {
    name: 'gamedistribution',
    async load() {
      const options = findGlobal<GdOptions>('GD_OPTIONS');
      if (typeof options?.gameId !== 'string')
        throw new Error(
          'Set `window.GD_OPTIONS = { gameId: "…" }` in the page, with the id from GameDistribution.',
        );
      const { onEvent: theirs } = options;
      options.onEvent = (event) => {
        // The game's own function must not keep the events from us.
        callGuarded(() => theirs?.(event));
        onEvent(event.name);
      };
      sdk = await loadScript('https://html5.api.gamedistribution.com/main.min.js', 'gdsdk');
    },
    async show(kind, _placement, given) {
      const call: (typeof calls)[number] = { ...given };
      calls.push(call);
      try {
        await sdk.showAd(kind);
        if (kind === 'interstitial' || call.earned) return 'completed';
        return call.started ? 'dismissed' : 'no_fill';
      } catch (error) {
        const detail = messageOf(error);
        const result = results.find(([pattern]) => pattern.test(detail))?.[1] ?? 'error';
        return call.earned ? 'completed' : { result, detail };
      } finally {
        calls.splice(calls.indexOf(call), 1);
        // After a failure, it may forget to start the game again.
        signals?.resume();
      }
    },
    preload: (kind) => sdk.preloadAd(kind).then(() => true),
    pauseSignals(given) {
      signals = given;
    },
  };
}
