import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readBreak } from '../../../src/ad-placement/read-break.ts';
import { createAdapter } from '../../../src/portal/adapters/ad-break.ts';
import type { PortalAdapter } from '../../../src/portal/adapter.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { createPortalPage, type PortalTestPage } from './portal-set.ts';

// What the game or the page around it does to a portal's SDK, and what the SDK must not do to them.

let page: PortalTestPage | undefined;
beforeEach(() => {
  page = undefined;
});
afterEach(() => {
  page?.destroy();
  vi.unstubAllGlobals();
});

const arcade = (more: Partial<PortalAdapter>): PortalAdapter => ({
  name: 'arcade',
  load: () => undefined,
  show: async () => 'completed',
  ...more,
});

it.each<[string, boolean, unknown]>([
  ['is missing', false, undefined],
  ['listens', false, () => undefined],
  [
    'throws',
    true,
    () => {
      throw new Error('a mistake of the game');
    },
  ],
  ['is not a function', true, 7],
])(
  'on GameDistribution, an ad earns its reward if the game’s `onEvent` %s',
  async (_how, isFaulty, onEvent) => {
    const errors = vi.fn((event: Event) => event.preventDefault());
    window.addEventListener('error', errors);
    page = createPortalPage('gamedistribution');
    const options: { gameId: string; onEvent?: unknown } = { gameId: 'game', onEvent };
    const showAd = async (): Promise<void> => {
      for (const name of ['SDK_GAME_PAUSE', 'SDK_REWARDED_WATCH_COMPLETE', 'SDK_GAME_START'])
        try {
          (options.onEvent as (event: object) => void)({ name });
        } catch {
          // Nobody hears of it.
        }
    };
    vi.stubGlobal('GD_OPTIONS', options);
    vi.stubGlobal('gdsdk', { showAd });
    await expect(page.show()).resolves.toMatchObject({ outcome: 'rewarded' });
    expect(page.game).toMatchObject({ holds: 0, started: 1, closed: 1 });
    expect(page.granted).toHaveLength(1);
    await runPendingWork();
    window.removeEventListener('error', errors);
    expect(errors.mock.calls.length > 0).toBe(isFaulty);
  },
);

it.each<[string, unknown]>([
  ['a text', 'no'],
  ['nothing', undefined],
  ['a symbol', Symbol('no')],
  [
    'an object whose message throws',
    Object.defineProperty({}, 'message', {
      get() {
        throw new Error('no');
      },
    }),
  ],
])('a portal that fails with %s ends the call at once', async (_what, error) => {
  const show = async (): Promise<never> => {
    throw error;
  };
  page = createPortalPage(arcade({ show }));
  await expect(page.show()).resolves.toMatchObject({ outcome: 'error', reason: 'portal_failed' });
  expect(page.game.holds).toBe(0);
});

it.each<[string, () => unknown]>([
  ['loads', () => new Promise(() => undefined)],
  ['has failed', () => Promise.reject(new Error('blocked'))],
  ['is ready', () => undefined],
])(
  'after destroy() while the portal %s, no timer is left and nothing changes',
  async (_how, load) => {
    page = createPortalPage(arcade({ load }));
    await runPendingWork();
    page.onChange.mockClear();
    page.destroy();
    await runPendingWork();
    expect(page.clock.timers()).toBe(0);
  },
);

it.each(['rewarded', 'interstitial'] as const)(
  'what Google’s API is asked for a %s ad has everything that it requires',
  async (kind) => {
    const pushed: { onReady?(): void }[] = [];
    const push = (entry: { onReady?(): void }): void => {
      pushed.push(entry);
      entry.onReady?.();
    };
    vi.stubGlobal('adsbygoogle', { push });
    const adapter = createAdapter('google_h5');
    await adapter.load();
    const { signal } = new AbortController();
    const call = { onStart: () => undefined, onEarned: () => undefined, signal };
    void adapter.show(kind, 'revive', call);
    expect(readBreak(pushed.at(-1))).toMatchObject({ error: undefined, unknownKeys: [] });
  },
);
