import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import type { RewardReport } from '../../../src/outcome.ts';
import { createDeferred } from '../../support/deferred.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { eventually } from '../../support/eventually.ts';
import { setHidden } from '../../support/set-hidden.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import type { BreakDeps } from '../../../src/ad-break/run-ad-break.ts';
import { openFrontDoor } from '../../../src/platform/front-door.ts';
import { native } from '../../../src/platform/native.ts';
import type { NewAdEvent } from '../../../src/outbox/outbox.ts';
import {
  addStyles,
  hostileStyles,
  replaceProperty,
  replaceValue,
  stopClocks,
} from './hostile-page.ts';
import { changeRate, passTime } from './pass-time.ts';
import {
  decide,
  restoredState,
  html,
  image,
  overlay,
  pauseBySystem,
  setStage,
  video,
} from './stage-set.ts';
import { trackLeaks } from './traces.ts';

const isFullRun = inject('full');
// Its listeners stay for as long as the page.
openFrontDoor();

// Tests every fault in every phase of an ad break, with a player who does nothing. The ad break must end on its own
// with the expected outcome, and leave nothing behind on the page. Faults that do not depend on the media are tested
// with an image by default, and with every kind of media by `npm run test:full`.

const kinds: Record<string, DecisionCreative['media']> = {
  video,
  image,
  html: html(`port.postMessage({ type: 'ready' });
    addEventListener('message', ({ data }) => {
      if (data === 'flood') for (let i = 0; i < 300; i++) port.postMessage({ type: 'x' });
      if (data === 'close') port.postMessage({ type: 'close' });
      if (data === 'leave') location = 'data:text/html,gone';
      parent.parent.postMessage({ done: data }, '*');
    });`),
};

const phases = [
  'requesting',
  'opening',
  'playing',
  'prompting',
  'watched',
  'endCard',
  'confirming',
] as const;
/**
 * `seen` is the phase after the impression and before the reward is due. It is tested only with faults whose outcome
 * depends on the impression.
 */
type Phase = (typeof phases)[number] | 'seen';

/**
 * The maximum duration of an ad break, in milliseconds. It is the sum of the creative's duration (3 s), a stall (8 s),
 * a prompt that the player ignores (20 s), an end card (10 s) and the wait for the confirmation (1.5 s).
 */
const longestMs = 42_500;

/** The phases before the reward is due. */
const earlyPhases: readonly Phase[] = ['requesting', 'opening', 'playing', 'prompting'];
/** The phases in which the creative is on the screen. */
const mediaPhases: readonly Phase[] = ['playing', 'prompting', 'watched'];
const openPhases = phases.filter((phase) => phase !== 'requesting');
/** The phases before the impression. An ad that expires in one of these phases can no longer earn a reward. */
const unseenPhases: readonly Phase[] = ['opening', 'playing', 'prompting'];
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

interface Fault {
  /** Injects the fault before the ad break. */
  deps?(): Partial<BreakDeps>;
  /** Injects the fault when the phase is reached. */
  inject?(scene: Scene): unknown;
  outcome(phase: Phase): string;
  /** The phases in which the fault is injected. The default is every phase except `seen`. */
  phases?: readonly Phase[];
  /** The kinds of media with which the fault is tested. */
  media?: string[];
}

type Scene = ReturnType<typeof play>;

const never = () => new Promise<never>(() => {});

/** Sends a command to the HTML creative. */
const post = (command: string): void =>
  document.querySelector('iframe')?.contentWindow?.[0]?.postMessage(command, '*');

/** Like {@link post}, but waits until the creative has executed the command. Only for faults that do not end the ad. */
async function postAndWait(command: string): Promise<void> {
  const done = new Promise<void>((resolve) => {
    const listener = ({ data }: MessageEvent<{ done?: string } | undefined>): void => {
      if (data?.done !== command) return;
      window.removeEventListener('message', listener);
      resolve();
    };
    window.addEventListener('message', listener);
  });
  post(command);
  await done;
  await runPendingWork();
}

const waitForHtmlRemoval = () =>
  eventually(() => expect(document.querySelector('iframe')).toBeNull());

function rejectPlay(shouldReject: (element: HTMLMediaElement) => boolean): Partial<BreakDeps> {
  const originalPlay = native.play;
  vi.spyOn(native, 'play').mockImplementation(function (this: HTMLMediaElement) {
    if (shouldReject(this))
      return Promise.reject(new DOMException('No gesture.', 'NotAllowedError'));
    return originalPlay.call(this);
  });
  return {};
}

const faults: Record<string, Fault> = {
  'is aborted by the game': {
    inject: (scene) => scene.abort.abort(),
    outcome: (phase) => (earlyPhases.includes(phase) ? 'aborted' : 'pending'),
  },
  'is hidden and shown again': {
    inject() {
      setHidden(true);
      setHidden(false);
    },
    outcome: () => 'rewarded',
  },
  'enters and leaves full screen': {
    inject() {
      document.dispatchEvent(new Event('fullscreenchange'));
      document.dispatchEvent(new Event('fullscreenchange'));
    },
    outcome: () => 'rewarded',
  },
  'is rotated to portrait': {
    inject: () => page.viewport(320, 640),
    outcome: () => 'rewarded',
    media: isFullRun ? ['image', 'html'] : ['image'],
  },
  'has a media error': {
    inject() {
      const element = document.querySelector('video');
      if (element) replaceValue(element, 'error', { code: 3 });
    },
    outcome: (phase) => (earlyPhases.includes(phase) ? 'error' : 'rewarded'),
    phases: mediaPhases,
    media: ['video'],
  },
  'is paused by the operating system and never resumed': {
    inject: () => pauseBySystem(document.querySelector('video')),
    outcome: (phase) => (phase === 'playing' ? 'stalled' : 'rewarded'),
    phases: mediaPhases,
    media: ['video'],
  },
  'floods the page with messages': {
    async inject() {
      post('flood');
      await waitForHtmlRemoval();
    },
    outcome: (phase) => (earlyPhases.includes(phase) ? 'error' : 'rewarded'),
    phases: mediaPhases,
    media: ['html'],
  },
  'stops loading': {
    inject() {
      const element = document.querySelector('video');
      if (element) changeRate(element, 0);
    },
    outcome: (phase) => (earlyPhases.includes(phase) ? 'stalled' : 'rewarded'),
    phases: mediaPhases,
    media: ['video'],
  },
  'is blocked from playing with sound': {
    deps: () => rejectPlay((element) => !element.muted),
    outcome: () => 'rewarded',
    phases: ['opening'],
    media: ['video'],
  },
  'needs a tap that never comes': {
    deps: () => rejectPlay(() => true),
    // The video never starts.
    async inject({ time }) {
      await eventually(() => expect(overlay().findVisible('button.play')).toBeDefined());
      time.start();
    },
    outcome: () => 'stalled',
    phases: ['opening'],
    media: ['video'],
  },
  'is interrupted by five minutes of device sleep': {
    inject: ({ clock }) => clock.sleep(5 * minuteMs),
    outcome: () => 'rewarded',
    phases: [...openPhases, 'seen'],
    media: Object.keys(kinds),
  },
  'is interrupted by nine hours of device sleep, and its ad expires': {
    inject: ({ clock }) => clock.sleep(9 * hourMs),
    outcome: (phase) => (unseenPhases.includes(phase) ? 'error' : 'rewarded'),
    phases: [...openPhases, 'seen'],
    media: Object.keys(kinds),
  },
  'is frozen for five minutes': {
    inject: (scene) => scene.freeze(5 * minuteMs),
    outcome: () => 'rewarded',
    phases: [...openPhases, 'seen'],
  },
  'is frozen for an hour, and its ad expires': {
    inject: (scene) => scene.freeze(hourMs),
    outcome: (phase) => (unseenPhases.includes(phase) ? 'error' : 'rewarded'),
    phases: [...openPhases, 'seen'],
  },
  'has its clock set back by a day': {
    inject: ({ clock }) => clock.setWallTime(clock.now() - 24 * hourMs),
    outcome: () => 'rewarded',
    phases: openPhases,
  },
  'never receives a decision': {
    deps: () => ({ take: never, loadTimeoutMs: 300 }),
    inject: ({ clock }) => clock.advance(300),
    outcome: () => 'timeout',
    phases: ['requesting'],
  },
  'has storage that never responds': {
    deps: () => ({
      confirmationTimeoutMs: 1000,
      enqueue: never,
      rewards: { track: never, setWatched: never, confirmation: never },
    }),
    outcome: () => 'pending',
    phases: ['opening'],
  },
  'repeatedly requests to be closed': {
    async inject({ clock, phase }) {
      if (phase === 'watched') {
        post('close');
        return waitForHtmlRemoval();
      }
      for (let times = 0; times < 3; times += 1) {
        await postAndWait('close');
        if (times === 0 && phase === 'playing')
          await eventually(() => expect(overlay().findVisible('.ask')).toBeDefined());
        // The prompt times out after 20 s.
        if (overlay().findVisible('.ask')) await clock.advance(20_000);
      }
    },
    outcome: () => 'rewarded',
    phases: mediaPhases,
    media: ['html'],
  },
  'navigates away from its own page': {
    async inject() {
      post('leave');
      await waitForHtmlRemoval();
    },
    outcome: (phase) => (earlyPhases.includes(phase) ? 'error' : 'rewarded'),
    phases: mediaPhases,
    media: ['html'],
  },
  'is paused by the operating system and resumed by it': {
    inject: async () => {
      const element = document.querySelector('video');
      pauseBySystem(element);
      await runPendingWork();
      // The ad may end and remove the video meanwhile. A video without a source keeps `play()` waiting forever.
      if (!element?.isConnected) return;
      const removed = new Promise((resolve) => element.addEventListener('emptied', resolve));
      await Promise.race([removed, element.play().catch(() => undefined)]);
    },
    outcome: () => 'rewarded',
    // In the prompt, it is paused anyway.
    phases: ['playing', 'watched'],
    media: ['video'],
  },
  'is muted by the operating system': {
    inject() {
      const element = document.querySelector('video');
      if (element) element.muted = true;
    },
    outcome: () => 'rewarded',
    phases: mediaPhases,
    media: ['video'],
  },
  'is on a page whose styles hide and move everything': {
    inject: ({ undo }) => undo.push(addStyles(hostileStyles)),
    outcome: () => 'rewarded',
  },
  'is on a page whose game has stopped its clocks': {
    inject: ({ undo }) => undo.push(stopClocks()),
    outcome: () => 'rewarded',
  },
  'is on a page that says that it is visible when it is hidden, and the reverse': {
    async inject({ undo }) {
      undo.push(replaceProperty(document, 'hidden', { get: () => true }));
      document.dispatchEvent(new Event('visibilitychange'));
      await runPendingWork();
    },
    outcome: () => 'rewarded',
  },
  'is on a page that says that it is offline': {
    inject({ undo }) {
      undo.push(replaceProperty(navigator, 'onLine', { get: () => false }));
      window.dispatchEvent(new Event('offline'));
    },
    outcome: () => 'rewarded',
  },
  'is removed by a page that renders itself anew': {
    async inject({ stage }) {
      removeOthers(stage.canvas);
      await runPendingWork();
    },
    outcome: () => 'rewarded',
    phases: openPhases,
    media: Object.keys(kinds),
  },
  'is on a page that replaces its body': {
    async inject({ phase, stage }) {
      const body = document.createElement('body');
      body.append(stage.canvas);
      document.body.replaceWith(body);
      if (phase === 'confirming') stage.canvas.focus();
      await runPendingWork();
    },
    outcome: () => 'rewarded',
    phases: openPhases,
  },
  'is removed by the page whenever it is put back': {
    async inject({ stage, undo }) {
      const observer = new MutationObserver(() => {
        removeOthers(stage.canvas);
      });
      observer.observe(document.body, { childList: true });
      undo.push(() => observer.disconnect());
      removeOthers(stage.canvas);
      await runPendingWork();
    },
    outcome: (phase) => (earlyPhases.includes(phase) ? 'error' : 'rewarded'),
    phases: openPhases,
  },
  'is covered by a dialog of the page for a moment': {
    inject() {
      const dialog = document.body.appendChild(document.createElement('dialog'));
      dialog.showModal();
      dialog.remove();
    },
    outcome: () => 'rewarded',
    // After the ad, the page's dialog takes the focus from the game.
    phases: openPhases.filter((phase) => phase !== 'confirming'),
  },
  'is on a page with a gamepad whose button is held': {
    inject({ undo }) {
      const pad = { index: 0, connected: true, axes: [], buttons: [{ pressed: true }] };
      vi.spyOn(navigator, 'getGamepads').mockReturnValue([pad as unknown as Gamepad]);
      window.dispatchEvent(new Event('gamepadconnected'));
      undo.push(() => vi.restoreAllMocks());
    },
    outcome: () => 'rewarded',
    phases: openPhases,
  },
  'receives repeated Escape key presses': {
    inject: () => userEvent.keyboard('{Escape}{Escape}{Escape}'),
    outcome: () => 'rewarded',
    phases: ['opening'],
  },
};

function removeOthers(canvas: Element): void {
  for (const element of document.body.children) if (element !== canvas) element.remove();
}

/** Calls `callback` when the end card appears. */
function onEndCard(callback: () => void): void {
  const { dialog, findVisible } = overlay();
  if (!dialog) return;
  new MutationObserver((_changes, observer) => {
    if (findVisible('.end') === undefined) return;
    observer.disconnect();
    callback();
  }).observe(dialog, { subtree: true, attributes: true });
}

/** Runs an ad break up to `phase`, then stops the page's clock until the fault has been injected. */
function play(kind: string, phase: Phase, fault: Fault) {
  const stage = setStage();
  const clock = createManualClock();
  // Viewability is checked every 200 ms. A fast video can end between two checks.
  const time = passTime(clock, { fastVideo: phase !== 'seen' });
  const leaks = trackLeaks();
  const deps = fault.deps?.();
  const abort = new AbortController();
  const confirmed = createDeferred<RewardReport>();
  const reached = createDeferred<void>();
  const outcomes: string[] = [];
  const events: NewAdEvent[] = [];
  /** Undoes what faults have changed on the page. */
  const undo: (() => void)[] = [];
  let frozenMs = 0;
  let started = false;
  let injected = false;

  function reachPhase(currentPhase: Phase): void {
    if (currentPhase !== phase || injected) return;
    time.stop();
    reached.resolve();
  }
  async function start(): Promise<void> {
    started = true;
    onEndCard(() => reachPhase('endCard'));
    // Even with a delay of zero, the close button is shown by a timer.
    await clock.advance(0);
    if (phase === 'prompting') {
      // At first, input is ignored.
      await clock.advance(600);
      overlay().findVisible('button.close')?.click();
    }
    if (phase === 'playing' || phase === 'prompting') reachPhase(phase);
    else if (injected || phase !== 'opening') time.start();
  }

  const decision = decide(
    kinds[kind] ?? image,
    { min_watch_ms: phase === 'watched' || kind !== 'video' ? 1600 : 2400, close_after_ms: 0 },
    // Videos play in real time, so they have an end card only if the test needs one.
    kind === 'video' && phase !== 'endCard' ? undefined : 'https://advertiser.test/',
  );
  const running = stage.run(
    decision,
    { signal: abort.signal, onOpen: () => reachPhase('opening'), onStart: () => void start() },
    {
      clock,
      loadTimeoutMs: 100_000,
      confirmationTimeoutMs: 100_000,
      async enqueue(event) {
        stage.log.push(event.type);
        events.push(event);
        if (event.type === 'impression') reachPhase('seen');
      },
      // In the `confirming` phase, the confirmation arrives only after the fault.
      rewards: {
        async track() {},
        async setWatched() {
          stage.log.push('watched');
          reachPhase('watched');
        },
        async confirmation(decisionId) {
          stage.log.push('confirmation');
          reachPhase('confirming');
          if (phase !== 'confirming') return earned(decisionId);
          return confirmed.promise;
        },
      },
      ...deps,
    },
  );
  void running.then(({ outcome }) => outcomes.push(outcome));
  const earned = (decisionId: string): RewardReport => ({ decisionId, state: 'earned' });
  if (phase === 'requesting') reached.resolve();
  return {
    abort,
    clock,
    phase,
    outcomes,
    events,
    stage,
    time,
    leaks,
    undo,
    revert: () => undo.splice(0).forEach((step) => step()),
    freeze(ms: number) {
      frozenMs += ms;
      clock.freeze(ms);
    },
    /** How long the page has been running, excluding time spent frozen, in milliseconds. */
    passedMs: () => clock.monotonic() - frozenMs,
    waitForPhase: () => reached.promise,
    end: () => {
      injected = true;
      if (started) time.start();
      confirmed.resolve(earned(decision.id));
      return running;
    },
  };
}

describe.each(Object.keys(kinds))('an ad break with %s', (kind) => {
  let scene: Scene | undefined;

  beforeEach(() => page.viewport(640, 360));
  afterEach(() => {
    scene?.abort.abort();
    scene?.revert();
    scene?.leaks.stop();
  });

  const cells = Object.entries(faults).flatMap(([name, fault]) =>
    (fault.phases ?? phases)
      .filter(() => (fault.media ?? (isFullRun ? Object.keys(kinds) : ['image'])).includes(kind))
      .map((phase) => ({ name, phase, fault, outcome: fault.outcome(phase) })),
  );

  it.each(rowsForRun(cells, 2))(
    'that $name while $phase ends with $outcome',
    async ({ fault, outcome, phase }) => {
      scene = play(kind, phase, fault);
      const { clock, outcomes, stage, time, leaks } = scene;
      await scene.waitForPhase();
      await fault.inject?.(scene);
      const result = await scene.end();
      time.stop();
      scene.revert();
      expect(result.outcome).toBe(outcome);
      expect(scene.passedMs()).toBeLessThan(longestMs);
      await eventually(() => expect(stage.readPageState()).toEqual(restoredState));
      expect(outcomes).toEqual([outcome]);
      expect(stage.count('hold')).toBe(stage.count('release'));
      // An aborted ad break does not wait for its writes to the outbox and the ledger. The writes finish before the
      // next task.
      await new Promise((resolve) => setTimeout(resolve));
      expect(stage.count('complete')).toBe(stage.count('watched'));
      // While the device sleeps or the page is frozen, no time counts as watched or viewable.
      for (const { visible, watched_ms: watchedMs = 0 } of scene.events) {
        expect(watchedMs).toBeLessThan(longestMs);
        expect(visible?.ms ?? 0).toBeLessThan(longestMs);
      }
      await eventually(() => expect(leaks.remaining()).toEqual([]));
      expect(clock.timers()).toBe(0);
      const onKeydown = vi.fn();
      window.addEventListener('keydown', onKeydown, { once: true });
      await userEvent.keyboard('x');
      expect(onKeydown).toHaveBeenCalledTimes(1);
    },
  );
});
