import type { PortalPage } from './ads.ts';
import type { AdsDeps } from './assemble-ads.ts';
import type { Availability } from './outcome.ts';
import { runWithTimeout } from './platform/clock.ts';
import { loadPart } from './platform/load-part.ts';
import { importPortal } from './portal-parts.ts';
import type { PortalAdapter } from './portal/adapter.ts';
import type { Portal, PortalDeps } from './portal/connect-portal.ts';

/** How long a call may wait for the code of portals, in milliseconds. */
const loadLimitMs = 15_000;

const nothing = (): undefined => undefined;

/**
 * Loads the code for a page that belongs to a portal, and returns what the page uses instead of the service. Until the
 * code has loaded, there are no ads.
 */
export function startPortalMode(
  deps: PortalDeps,
): Required<Pick<AdsDeps, 'decisions' | 'portal' | 'run'>> {
  const { clock, portal: given, signal } = deps;
  let portal: Portal | undefined;
  const loading = loadPart(importPortal, 'connectPortal', deps).then(
    (connectPortal) => (portal = connectPortal(deps, page)),
  );
  // Rejects only when the ads are destroyed.
  loading.catch(nothing);
  /** Calls a function of the portal when the code has loaded. Returns `otherwise()` if that doesn't happen. */
  const later =
    <Name extends keyof Portal, Result>(name: Name, otherwise: () => Result) =>
    async (...parameters: unknown[]): Promise<never> => {
      // Never rejects. The ads may be destroyed in the meantime.
      await runWithTimeout(clock, loadLimitMs, signal, () => loading);
      const call = portal?.[name] as ((...given: unknown[]) => unknown) | undefined;
      return (call ?? otherwise)(...parameters) as never;
    };
  const signalLater = (name: 'gameplayStart' | 'gameplayStop' | 'loadingFinished') => {
    const send = later(name, nothing);
    return () => void send();
  };
  const notReady = (): Availability => ({ available: false, outcome: 'not_ready' });
  const page: PortalPage = {
    name: (given as Partial<PortalAdapter>).name ?? (given as string),
    muted: false,
    playerToken: later('playerToken', nothing),
    gameplayStart: signalLater('gameplayStart'),
    gameplayStop: signalLater('gameplayStop'),
    loadingFinished: signalLater('loadingFinished'),
  };
  return {
    portal: page,
    decisions: {
      availability: (...call) => (portal?.availability ?? notReady)(...call),
      isLoaded: (placement) => portal?.isLoaded(placement) ?? false,
      preload: later('preload', notReady),
    },
    run: later('run', () => ({ outcome: signal.aborted ? 'aborted' : 'timeout' })),
  };
}
