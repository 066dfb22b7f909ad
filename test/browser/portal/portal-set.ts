import { vi } from 'vitest';
import { standInGlobals } from '../../../demo/src/portals/sdks.ts';
import type { PortalBehavior } from '../../../demo/src/portals/stage.ts';
import { installStandIn } from '../../../demo/src/portals/stand-in.ts';
import type { BreakRequest } from '../../../src/ad-break/run-ad-break.ts';
import { onInput } from '../../../src/platform/front-door.ts';
import type { PortalName } from '../../../src/platform/find-portal.ts';
import type { PortalAdapter } from '../../../src/portal/adapter.ts';
import { connectPortal, type PortalDeps } from '../../../src/portal/connect-portal.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { showAlone } from './show-alone.ts';

const { get: readMuted } =
  Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'muted') ?? {};

/** Whether an element is muted, whatever its property tells the game. */
export const isSilent = (sound: HTMLMediaElement): unknown => readMuted?.call(sound);

/** A page on a portal: its stand-in, a game that counts how often it is held, and the rewards that were stored. */
export function createPortalPage(
  portal: PortalName | PortalAdapter,
  moreDeps: Partial<PortalDeps> = {},
) {
  const clock = createManualClock();
  const behavior: PortalBehavior = {
    answer: 'ad',
    order: 'documented',
    play: async () => true,
  };
  const standIn = installStandIn(typeof portal === 'string' ? portal : '', behavior);
  const lifetime = new AbortController();
  const game = { holds: 0, opened: 0, started: 0, closed: 0 };
  const granted: string[] = [];
  const page = { language: undefined as string | undefined, muted: false };
  const onChange = vi.fn();
  const connected = connectPortal(
    {
      portal,
      portalRewards: { revive: { type: 'lives', amount: 1 } },
      clock,
      engine: {
        hold() {
          game.holds += 1;
          return () => (game.holds -= 1);
        },
        onFrame: () => () => undefined,
        focusTarget: () => null,
      },
      onInput,
      rewards: {
        async track() {},
        async settle(statuses) {
          granted.push(...statuses.map(({ id }) => id));
        },
      },
      findHold: () => undefined,
      onShown() {},
      newId: () => String(granted.length),
      confirmationTimeoutMs: 3_000,
      signal: lifetime.signal,
      onChange,
      ...moreDeps,
    },
    page,
  );
  return {
    behavior,
    clock,
    game,
    granted,
    onChange,
    page,
    portal: connected,
    standIn,
    show: (kind: BreakRequest['kind'] = 'rewarded', more: Partial<BreakRequest> = {}) =>
      showAlone(
        {
          kind,
          placement: 'revive',
          onOpen: () => void (game.opened += 1),
          onStart: () => void (game.started += 1),
          onClose: () => void (game.closed += 1),
          ...more,
        },
        connected.run,
      ),
    destroy() {
      lifetime.abort();
      for (const name of standInGlobals) Reflect.deleteProperty(globalThis, name);
    },
  };
}

export type PortalTestPage = ReturnType<typeof createPortalPage>;
