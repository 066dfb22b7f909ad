import { afterEach, describe, expect, it } from 'vitest';
import type { BreakRequest } from '../../../src/ad-break/run-ad-break.ts';
import type {
  PortalAdapter,
  PortalAnswer,
  PortalCall,
  PortalSignals,
} from '../../../src/portal/adapter.ts';
import type { PortalDeps } from '../../../src/portal/connect-portal.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { createPortalPage, type PortalTestPage } from './portal-set.ts';

// Tests every fault in every phase of a portal's rewarded ad. Each call must end with the expected outcome, give the
// game back, and store a reward that the player has earned, once. The next ad must be shown as usual.

const phases = ['connecting', 'requested', 'playing', 'earned'] as const;
type Phase = (typeof phases)[number];

/** The longest call: 15 s until the ad begins, 5 minutes until it ends, and 3 s until its reward is stored. */
const longestMs = 318_000;
const hourMs = 3_600_000;

interface Fault {
  deps?: Partial<PortalDeps>;
  /** The game's part of the call. */
  request?: Partial<BreakRequest>;
  /** Injects the fault when the phase is reached. Otherwise, the ad is then watched to the end. */
  inject?(scene: Scene): unknown;
  outcome(phase: Phase): string;
  /** Whether the reward is stored. Default: if the outcome is `rewarded`. */
  isStored?: false;
  /** Whether the page is frozen, which no time limit can end. */
  isFrozen?: true;
}

/** A portal that does what the test says. */
function play({ deps, request }: Fault) {
  const loading = createDeferred();
  const showing = createDeferred<PortalAnswer>();
  // In some phases, a fault rejects what nobody waits for yet or anymore.
  for (const { promise } of [loading, showing]) promise.catch(() => undefined);
  const abort = new AbortController();
  let call: PortalCall | undefined;
  let signals: PortalSignals | undefined;
  let isFaulty = true;
  const adapter: PortalAdapter = {
    name: 'arcade',
    load: () => (isFaulty ? loading.promise : undefined),
    async show(_kind, _placement, given) {
      if (!isFaulty) return 'completed';
      call = given;
      return showing.promise;
    },
    pauseSignals: (given) => void (signals = given),
  };
  const page = createPortalPage(adapter, deps);
  const result = page.show('rewarded', {
    signal: abort.signal,
    ...request,
    onOpen() {
      page.game.opened += 1;
      request?.onOpen?.();
    },
    onClose() {
      page.game.closed += 1;
      request?.onClose?.();
    },
  });
  return {
    abort,
    loading,
    page,
    result,
    showing,
    call: () => call,
    signals: () => signals,
    repair: () => (isFaulty = false),
    async reach(phase: Phase) {
      if (phase === 'connecting') return;
      loading.resolve();
      await eventually(() => expect(call).toBeDefined());
      if (phase === 'requested') return;
      call?.onStart();
      if (phase === 'earned') call?.onEarned();
      await runPendingWork();
    },
    /** The player watches the ad to the end. */
    async finish() {
      loading.resolve();
      await runPendingWork();
      call?.onStart();
      showing.resolve('completed');
      await runPendingWork();
    },
  };
}
type Scene = ReturnType<typeof play>;

/** What the player has earned is earned, however the ad ended. */
const unlessEarned =
  (outcome: (phase: Phase) => string) =>
  (phase: Phase): string =>
    phase === 'earned' ? 'rewarded' : outcome(phase);
const untilStarted = (before: string, after: string) =>
  unlessEarned((phase) => (phase === 'playing' ? after : before));
const whileConnecting = (before: string, after: string) =>
  unlessEarned((phase) => (phase === 'connecting' ? before : after));
const never = () => new Promise<never>(() => undefined);
const fail = (): never => {
  throw new Error('boom');
};

const faults: Record<string, Fault> = {
  'the portal fails': {
    inject({ loading, showing }) {
      loading.reject(new Error('boom'));
      showing.reject(new Error('boom'));
    },
    outcome: whileConnecting('ad_blocked', 'error'),
  },
  'the portal fails without a reason': {
    inject({ loading, showing }) {
      loading.reject(undefined);
      showing.reject(undefined);
    },
    outcome: whileConnecting('ad_blocked', 'error'),
  },
  'the portal answers nonsense': {
    inject({ loading, showing }) {
      loading.resolve();
      showing.resolve({ result: 7 } as never);
    },
    outcome: unlessEarned(() => 'error'),
  },
  'the portal has no ad after all': {
    inject({ loading, showing }) {
      loading.resolve();
      showing.resolve({ result: 'no_fill', detail: 'late' });
    },
    outcome: unlessEarned(() => 'no_fill'),
  },
  'the portal never answers': {
    inject: ({ page }) => page.clock.advance(300_000),
    outcome: untilStarted('timeout', 'stalled'),
  },
  'the portal repeats everything': {
    async inject(scene) {
      await scene.finish();
      scene.call()?.onStart();
      scene.call()?.onEarned();
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
  'the portal pauses the game, and lets it go on': {
    async inject(scene) {
      scene.signals()?.pause();
      scene.signals()?.mute();
      await scene.finish();
      scene.signals()?.resume();
      scene.signals()?.unmute();
    },
    outcome: () => 'rewarded',
  },
  'the game aborts the call': {
    inject: ({ abort }) => abort.abort(),
    outcome: unlessEarned(() => 'aborted'),
  },
  'the game’s handlers throw': {
    request: { onOpen: fail, onStart: fail, onClose: fail },
    outcome: () => 'rewarded',
  },
  'the player closes the ad': {
    async inject({ call, loading, showing }) {
      loading.resolve();
      await runPendingWork();
      call()?.onStart();
      showing.resolve('dismissed');
    },
    outcome: unlessEarned(() => 'dismissed'),
  },
  'the device sleeps for an hour': {
    async inject(scene) {
      scene.page.clock.sleep(hourMs);
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
  'the device’s clock is set back by a day': {
    async inject(scene) {
      const { clock } = scene.page;
      clock.setWallTime(clock.now() - 24 * hourMs);
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
  'the page is frozen for an hour': {
    inject: ({ page: { clock } }) => clock.freeze(hourMs),
    outcome: untilStarted('timeout', 'stalled'),
    isFrozen: true,
  },
  'storage hangs': {
    deps: { rewards: { track: never, settle: never } },
    outcome: () => 'rewarded',
    isStored: false,
  },
  'storage fails': {
    deps: { rewards: { track: async () => fail(), settle: async () => fail() } },
    outcome: () => 'rewarded',
    isStored: false,
  },
  'another copy of the SDK shows an ad': {
    inject: async (scene) => {
      const other = await scene.page.show();
      expect(other.outcome).toBe('already_showing');
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
};

let page: PortalTestPage | undefined;
const ignore = (event: Event): void => event.preventDefault();
window.addEventListener('error', ignore);
afterEach(() => page?.destroy());

describe.each(Object.entries(faults))('%s', (_, fault) => {
  it.each(rowsForRun(phases, 2))('while %s', async (phase) => {
    const scene = play(fault);
    ({ page } = scene);
    const { clock, game, granted } = page;
    await scene.reach(phase);
    expect(game).toMatchObject({ holds: 1, closed: 0 });
    const startedAtMs = clock.monotonic();
    await (fault.inject ?? (() => scene.finish()))(scene);
    const waiting = scene.result.finally(() => (ended = true));
    let ended = false;
    await runPendingWork();
    while (!ended && (await clock.runNextTimer())) await runPendingWork();
    const { outcome } = await waiting;
    expect(outcome).toBe(fault.outcome(phase));
    if (!fault.isFrozen) expect(clock.monotonic() - startedAtMs).toBeLessThanOrEqual(longestMs);
    expect(game).toMatchObject({ holds: 0, opened: 1, closed: 1 });
    const stored = outcome === 'rewarded' && fault.isStored !== false ? 1 : 0;
    await eventually(() => expect(granted).toHaveLength(stored));

    scene.repair();
    // A portal that still connects is given up after 15 s, and tried again after 30 s.
    await clock.advance(45_000);
    expect(page.portal.availability('revive')).toMatchObject({ available: true, reward: {} });
    const next = page.show();
    if (fault.isStored === false) await clock.advance(3_000);
    expect((await next).outcome).toBe('rewarded');
    expect(game).toMatchObject({ holds: 0, opened: 2, closed: 2 });
  });
});
