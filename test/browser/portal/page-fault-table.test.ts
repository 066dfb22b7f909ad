import { afterEach, describe, expect, it } from 'vitest';
import { type BreakRequest, runAdBreak } from '../../../src/ad-break/run-ad-break.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import { requestAd } from '../../../src/decision/request-ad.ts';
import type { NewAdEvent } from '../../../src/outbox/outbox.ts';
import type { RewardReport } from '../../../src/outcome.ts';
import { onInput } from '../../../src/platform/front-door.ts';
import type { PortalAdapter, PortalAnswer, PortalCall } from '../../../src/portal/adapter.ts';
import { connectPageAds, type PageAdsDeps } from '../../../src/portal/connect-page-ads.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { decide, englishText, image } from '../ad-break/stage-set.ts';
import { showAlone } from './show-alone.ts';

// Tests every fault in every phase of a rewarded ad that an ad SDK in the page shows. Each call must end with the expected
// outcome, give the game back, and report only what has happened. Where there is no ad, the service's next ad is shown.
// The next call is served as usual.

const phases = ['preparing', 'requested', 'playing', 'earned'] as const;
type Phase = (typeof phases)[number];

/** The longest call: 4 s until it is prepared, 15 s until it begins, 5 minutes until it ends, and 3.5 s of confirmation. */
const longestMs = 322_500;
const hourMs = 3_600_000;

interface Fault {
  deps?: Partial<PageAdsDeps>;
  /** The game's part of the call. */
  request?: Partial<BreakRequest>;
  /** Injects the fault when the phase is reached. Otherwise, the ad is then watched to the end. */
  inject?(scene: Scene): unknown;
  /** `next`: the service's next ad is shown, and earns the reward. */
  outcome(phase: Phase): string;
  /** Whether the page is frozen, which no time limit can end. */
  isFrozen?: true;
}

/** A page whose ad SDK does what the test says, with a service that gives it its turn first. */
function play({ deps, request }: Fault) {
  const clock = createManualClock();
  const lifetime = new AbortController();
  const abort = new AbortController();
  const preparing = createDeferred<unknown>();
  const showing = createDeferred<PortalAnswer>();
  // In some phases, a fault rejects what nobody waits for yet or anymore.
  for (const { promise } of [preparing, showing]) promise.catch(() => undefined);
  const game = { holds: 0, opened: 0, started: 0, closed: 0 };
  const events: NewAdEvent[] = [];
  /** The ad SDKs that each request has listed. */
  const listed: (string[] | undefined)[] = [];
  let call: PortalCall | undefined;
  let isFaulty = true;

  const adapter: PortalAdapter = {
    name: 'network',
    load() {},
    preload: () => (isFaulty ? preparing.promise : true),
    async show(_kind, _placement, given) {
      if (!isFaulty) return 'completed';
      call = given;
      return showing.promise;
    },
  };
  const signal = lifetime.signal;
  const breakDeps: Omit<PageAdsDeps, 'pageAds' | 'onShown' | 'signal'> = {
    clock,
    text: englishText,
    loadTimeoutMs: 8_000,
    confirmationTimeoutMs: 3_000,
    engine: {
      hold() {
        game.holds += 1;
        return () => (game.holds -= 1);
      },
      onFrame: () => () => undefined,
      focusTarget: () => null,
    },
    onInput,
    async enqueue(event) {
      events.push(event);
    },
    rewards: {
      async track() {},
      async setWatched() {},
      confirmation: async (decisionId): Promise<RewardReport> => ({ decisionId, state: 'earned' }),
    },
    take: (placement, takeSignal, options = {}) =>
      requestAd(
        {
          clock,
          client: {
            async call(_path, _check, { body }) {
              const { page_adapters: adapters } = body as { page_adapters?: string[] };
              listed.push(adapters);
              const media = adapters
                ? ({ format: 'page', adapter: 'custom:network' } as const)
                : image;
              const issuedAt = clock.now();
              return {
                kind: 'ok',
                body: {
                  ...decide(media, { close_after_ms: 0 }),
                  id: `dec_${listed.length}`,
                  issued_at: new Date(issuedAt).toISOString(),
                  expires_at: new Date(issuedAt + 600_000).toISOString(),
                },
              } as never;
            },
          },
          isOnline: () => true,
          findObstacle: () => Promise.reject(new Error('none')),
          locale: 'en',
          profile: () => ({ user: {}, consent: undefined, simulate: undefined }) as never,
          adRules: { learn() {}, session: () => ({}) as never },
          findHold: () => undefined,
          pageAdapters: (name) => pageAds.list(name),
          loadCreative: (decision, loadSignal) =>
            pageAds.load(decision, loadSignal) ??
            loadCreative(decision, { clock, signal: loadSignal, locale: 'en' }),
          loadTimeoutMs: 8_000,
        },
        { placement, options, signal: takeSignal, previous: undefined },
      ),
    ...deps,
  };
  const pageAds = connectPageAds({ ...breakDeps, pageAds: [adapter], onShown() {}, signal });

  const show = async (more: Partial<BreakRequest> = {}) => {
    await eventually(() => expect(pageAds.list('probe')).toHaveLength(1));
    return showAlone(
      {
        placement: 'revive',
        kind: 'rewarded',
        ...more,
        onOpen() {
          game.opened += 1;
          more.onOpen?.();
        },
        onStart() {
          game.started += 1;
          more.onStart?.();
        },
        onClose() {
          game.closed += 1;
          more.onClose?.();
        },
      },
      (shown) => runAdBreak({ ...breakDeps, showInPage: (...run) => pageAds.run(...run) }, shown),
    );
  };
  return {
    abort,
    clock,
    events,
    game,
    listed,
    preparing,
    show,
    showing,
    call: () => call,
    destroy: () => lifetime.abort(),
    result: show({ signal: abort.signal, ...request }),
    repair: () => (isFaulty = false),
    /** Returns the types of the events of the ad SDK's ad, which has the first decision. */
    types: () => events.filter(({ decision_id: id }) => id === 'dec_1').map(({ type }) => type),
    async reach(phase: Phase) {
      await eventually(() => expect(listed).toHaveLength(1));
      await runPendingWork();
      if (phase === 'preparing') return;
      preparing.resolve(true);
      await eventually(() => expect(call).toBeDefined());
      if (phase === 'requested') return;
      call?.onStart();
      if (phase === 'earned') call?.onEarned();
      await runPendingWork();
    },
    /** The player watches the ad to the end. */
    async finish() {
      preparing.resolve(true);
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
/** Until the ad has begun, another one can take its place. */
const nextUnlessStarted = (after: string) =>
  unlessEarned((phase) => (phase === 'playing' ? after : 'next'));
const never = () => new Promise<never>(() => undefined);
const fail = (): never => {
  throw new Error('boom');
};

const faults: Record<string, Fault> = {
  'the ad SDK fails': {
    inject({ preparing, showing }) {
      preparing.reject(new Error('boom'));
      showing.reject(new Error('boom'));
    },
    outcome: nextUnlessStarted('error'),
  },
  'the ad SDK fails without a reason': {
    inject({ preparing, showing }) {
      preparing.reject(undefined);
      showing.reject(undefined);
    },
    outcome: nextUnlessStarted('error'),
  },
  'the ad SDK answers nonsense': {
    inject({ preparing, showing }) {
      preparing.resolve({ result: 7 });
      showing.resolve({ result: 7 } as never);
    },
    outcome: nextUnlessStarted('error'),
  },
  'the ad SDK has no ad after all': {
    inject({ preparing, showing }) {
      preparing.resolve(false);
      showing.resolve({ result: 'no_fill', detail: 'late' });
    },
    outcome: nextUnlessStarted('no_fill'),
  },
  'the ad SDK never answers': {
    // Only the clock goes on.
    inject() {},
    outcome: unlessEarned(
      (phase) => ({ preparing: 'next', requested: 'timeout' })[phase as string] ?? 'stalled',
    ),
  },
  'the ad SDK repeats everything': {
    async inject(scene) {
      await scene.finish();
      scene.call()?.onStart();
      scene.call()?.onEarned();
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
  'the player closes the ad': {
    async inject({ preparing, showing, call }) {
      preparing.resolve(true);
      await runPendingWork();
      call()?.onStart();
      showing.resolve('dismissed');
    },
    outcome: unlessEarned(() => 'dismissed'),
  },
  'the game aborts the call': {
    inject: ({ abort }) => abort.abort(),
    outcome: unlessEarned(() => 'aborted'),
  },
  'the game’s handlers throw': {
    request: { onOpen: fail, onStart: fail, onClose: fail },
    outcome: () => 'rewarded',
  },
  'the device sleeps for an hour': {
    async inject(scene) {
      scene.clock.sleep(hourMs);
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
  'the device’s clock is set back by a day': {
    async inject(scene) {
      scene.clock.setWallTime(scene.clock.now() - 24 * hourMs);
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
  'the page is frozen for an hour': {
    inject: ({ clock }) => clock.freeze(hourMs),
    outcome: unlessEarned(
      (phase) => ({ preparing: 'next', requested: 'timeout' })[phase as string] ?? 'stalled',
    ),
    isFrozen: true,
  },
  'the service does not confirm the reward': {
    deps: { rewards: { async track() {}, async setWatched() {}, confirmation: never } },
    outcome: () => 'pending',
  },
  'storage hangs': {
    deps: { rewards: { track: never, setWatched: never, confirmation: never } },
    outcome: () => 'pending',
  },
  'storage fails': {
    deps: {
      enqueue: async () => fail(),
      rewards: { track: async () => fail(), setWatched: async () => fail(), confirmation: never },
    },
    outcome: () => 'pending',
  },
  'another copy of the SDK shows an ad': {
    async inject(scene) {
      expect((await scene.show()).outcome).toBe('already_showing');
      await scene.finish();
    },
    outcome: () => 'rewarded',
  },
};

let scene: Scene | undefined;
const ignore = (event: Event): void => event.preventDefault();
window.addEventListener('error', ignore);
afterEach(() => scene?.destroy());

/** What may be reported of one ad, in this order. */
const order = ['start', 'complete', 'skip', 'error', 'close'];
/** Only an ad that was watched to the end has earned something. */
const watched = ['rewarded', 'pending'];

describe.each(Object.entries(faults))('%s', (_, fault) => {
  it.each(rowsForRun(phases, 2))('while %s', async (phase) => {
    scene = play(fault);
    const { clock, game, types } = scene;
    const expected = fault.outcome(phase);
    await scene.reach(phase);
    // The game goes on until it is known that there is an ad.
    const isHeld = phase === 'preparing' ? 0 : 1;
    expect(game).toMatchObject({ holds: isHeld, opened: isHeld, closed: 0 });
    const startedAtMs = clock.monotonic();
    await (fault.inject ?? (() => scene?.finish()))(scene);
    let ended = false;
    const waiting = scene.result.finally(() => (ended = true));
    if (expected === 'next') {
      // While the next ad loads, the next timer would be its time limit.
      await runPendingWork();
      while (scene.listed.length < 2 && (await clock.runNextTimer())) await runPendingWork();
      await eventually(() => expect(game.started).toBe(1));
    }
    await runPendingWork();
    while (!ended && (await clock.runNextTimer())) await runPendingWork();
    const { outcome } = await waiting;
    expect(outcome).toBe(expected === 'next' ? 'rewarded' : expected);
    if (!fault.isFrozen) expect(clock.monotonic() - startedAtMs).toBeLessThanOrEqual(longestMs);
    const shown = expected === 'aborted' && phase === 'preparing' ? 0 : 1;
    expect(game).toMatchObject({ holds: 0, opened: shown, closed: shown });
    expect(scene.listed).toEqual([['custom:network'], ...(expected === 'next' ? [undefined] : [])]);
    if (!fault.deps?.enqueue) {
      const reported = types();
      expect(reported).toEqual(order.filter((type) => reported.includes(type as never)));
      expect(reported.includes('complete')).toBe(watched.includes(expected));
      expect(reported.includes('close')).toBe(reported.includes('start'));
    }
    expect(document.querySelector('dialog')).toBeNull();

    // Once an ad SDK without an ad is asked again, its ad is shown as usual.
    scene.repair();
    await clock.advance(30_000);
    let isOver = false;
    const next = scene.show().finally(() => (isOver = true));
    await runPendingWork();
    while (!isOver && (await clock.runNextTimer())) await runPendingWork();
    expect(watched).toContain((await next).outcome);
    expect(scene.listed.at(-1)).toEqual(['custom:network']);
    expect(game).toMatchObject({ holds: 0, opened: shown + 1, closed: shown + 1 });
  });
});
