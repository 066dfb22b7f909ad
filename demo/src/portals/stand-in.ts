/**
 * Stand-ins for the portals' SDKs, which exist only on the portals themselves. They behave as the public documentation
 * of November 2026 says, and on demand as badly as games have reported. The demo uses them with `?portal=…`, and the
 * tests of the adapters use them too.
 */

import { sdks } from './sdks.ts';
import type { PortalBehavior, Stage } from './stage.ts';

/** A portal's SDK that has been put into the page. */
export interface StandIn {
  /** What the game has told the portal, in order. */
  readonly told: string[];
  /** Answers the calls that were met with silence, by showing their ads. */
  wake(): void;
  pause(): void;
  resume(): void;
  setMuted(isMuted: boolean): void;
}

/** Puts a portal's stand-in into the page. */
export function installStandIn(name: string, behavior: PortalBehavior): StandIn {
  const silent: (() => void)[] = [];
  const listeners: Stage['listeners'] = {
    pause: () => undefined,
    resume: () => undefined,
    audio: () => undefined,
  };
  const told: string[] = [];
  let muted = false;
  const stage: Stage = {
    told,
    listeners,
    isMuted: () => muted,
    run(kind, { earned, ended, failed, offered, started }) {
      const { answer, order } = behavior;
      const call = (callback: (() => void) | undefined): void => {
        callback?.();
        if (order === 'twice') callback?.();
      };
      let isShown = false;
      const show = (): void => {
        if (isShown) return;
        isShown = true;
        call(started);
        if (order === 'at once') {
          call(earned);
          return call(() => ended(true));
        }
        void behavior.play(kind).then((isWatched) => {
          const earn = isWatched ? earned : undefined;
          if (order !== 'reward last') call(earn);
          call(() => ended(isWatched));
          if (order === 'reward last') call(earn);
        });
      };
      if (answer === 'exception') throw new Error('The SDK is not initialized.');
      const offer = (): void => (offered ? call(() => offered(show)) : show());
      if (answer === 'silence') return void silent.push(offer);
      const react = answer === 'ad' ? offer : () => call(() => failed(answer));
      if (order === 'at once') react();
      else setTimeout(react, 0);
    },
  };
  sdks[name]?.(stage);
  return {
    told,
    wake: () => silent.splice(0).forEach((show) => show()),
    pause: () => listeners.pause(),
    resume: () => listeners.resume(),
    setMuted(isMuted) {
      muted = isMuted;
      listeners.audio(!isMuted);
    },
  };
}
