import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { page, server, userEvent } from 'vitest/browser';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import type { RewardReport } from '../../../src/outcome.ts';
import { deferred } from '../../support/deferred.ts';
import type { BreakParts } from '../../../src/ad-break/run-ad-break.ts';
import { decide, givenBack, html, image, overlay, setStage, video } from './stage-set.ts';
import { fastClock, watchTraces } from './traces.ts';

// Every fault in every phase of a break, with a player who does nothing: the break ends by itself, with
// the outcome that the table says, and nothing is left.

const kinds: Record<string, DecisionCreative['media']> = {
  video,
  image,
  html: html(`port.postMessage({ type: 'ready' });
    addEventListener('message', ({ data }) => {
      if (data === 'flood') for (let i = 0; i < 300; i++) port.postMessage({ type: 'x' });
      if (data === 'close') setInterval(() => port.postMessage({ type: 'close' }), 50);
      if (data === 'leave') location = 'data:text/html,gone';
    });`),
};

const phases = [
  'requesting',
  'opening',
  'playing',
  'asking',
  'watched',
  'endCard',
  'confirming',
] as const;
type Phase = (typeof phases)[number];

/**
 * No break lasts longer: the creative (3 s), a stall (8 s), an unanswered question (20 s), an end card
 * (10 s) and the wait for the service's word (1.5 s).
 */
const longestMs = 42_500;

/** Before the reward was due, and after. */
const early: readonly Phase[] = ['requesting', 'opening', 'playing', 'asking'];
const withAd: readonly Phase[] = ['playing', 'asking', 'watched'];

interface Fault {
  /** What is wrong from the start. */
  parts?(): Partial<BreakParts>;
  /** What goes wrong once the phase is reached. */
  strikes?(scene: Scene): unknown;
  outcome(phase: Phase): string;
  in?: readonly Phase[];
  of?: string[];
}

type Scene = ReturnType<typeof play>;

const never = () => new Promise<never>(() => {});

/**
 * How fast the clock goes once the ad has started, with a video and without, and how fast a video plays.
 * How long a browser takes until then has nothing to do with that clock: Firefox up to a second to begin
 * with sound, WebKitGTK as long to draw on a busy machine. In WebKitGTK `pause()` does not stop a video
 * that plays at another speed than its own.
 */
const speeds = {
  chromium: { withVideo: 8, without: 32, playback: 8 },
  firefox: { withVideo: 2, without: 32, playback: 2 },
  webkit: { withVideo: 2, without: 32, playback: 1 },
};
const speed = speeds[server.browser as keyof typeof speeds];
const playFast = ({ target }: Event): void => {
  if (target instanceof HTMLVideoElement && target.playbackRate === 1)
    target.playbackRate = speed.playback;
};

/** Makes the HTML creative do something. */
const say = (what: string): void =>
  document.querySelector('iframe')?.contentWindow?.postMessage(what, '*');

function refusePlay(refuses: (element: HTMLMediaElement) => boolean): Partial<BreakParts> {
  const real = HTMLMediaElement.prototype.play;
  vi.spyOn(HTMLMediaElement.prototype, 'play').mockImplementation(function (
    this: HTMLMediaElement,
  ) {
    if (refuses(this)) return Promise.reject(new DOMException('No gesture.', 'NotAllowedError'));
    return real.call(this);
  });
  return {};
}

const setHidden = (hidden: boolean): void => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
  document.dispatchEvent(new Event('visibilitychange'));
};

const faults: Record<string, Fault> = {
  'is aborted by the game': {
    strikes: (scene) => scene.abort.abort(),
    outcome: (phase) => (early.includes(phase) ? 'aborted' : 'pending'),
  },
  'is hidden, and seen again': {
    strikes() {
      setHidden(true);
      setHidden(false);
    },
    outcome: () => 'rewarded',
  },
  'goes to full screen, and back': {
    strikes() {
      document.dispatchEvent(new Event('fullscreenchange'));
      document.dispatchEvent(new Event('fullscreenchange'));
    },
    outcome: () => 'rewarded',
  },
  'is turned to portrait': {
    strikes: () => page.viewport(320, 640),
    outcome: () => 'rewarded',
    of: ['image', 'html'],
  },
  'has its media fail': {
    strikes: () => document.querySelector('video')?.dispatchEvent(new Event('error')),
    outcome: (phase) => (early.includes(phase) ? 'error' : 'rewarded'),
    in: withAd,
    of: ['video'],
  },
  'is paused by the system, and not played again': {
    strikes: () => document.querySelector('video')?.pause(),
    outcome: (phase) => (phase === 'playing' ? 'stalled' : 'rewarded'),
    in: withAd,
    of: ['video'],
  },
  'floods the page with messages': {
    strikes: () => say('flood'),
    outcome: (phase) => (early.includes(phase) ? 'error' : 'rewarded'),
    in: withAd,
    of: ['html'],
  },
  'stops coming': {
    strikes() {
      const element = document.querySelector('video');
      if (element) element.playbackRate = 0;
    },
    outcome: (phase) => (early.includes(phase) ? 'stalled' : 'rewarded'),
    in: withAd,
    of: ['video'],
  },
  'may not play with sound': {
    parts: () => refusePlay((element) => !element.muted),
    outcome: () => 'rewarded',
    in: ['opening'],
    of: ['video'],
  },
  'may not play before a tap that never comes': {
    parts: () => refusePlay(() => true),
    // It never starts.
    strikes: (scene) => scene.time.hasten(),
    outcome: () => 'stalled',
    in: ['opening'],
    of: ['video'],
  },
  'has the device sleep for an hour': {
    strikes: (scene) => scene.time.sleep(3_600_000),
    outcome: () => 'rewarded',
    in: ['opening', 'playing', 'asking', 'watched', 'endCard', 'confirming'],
  },
  'is never decided': {
    parts: () => ({ take: never, loadTimeoutMs: 300 }),
    outcome: () => 'timeout',
    in: ['requesting'],
  },
  'has no storage that answers': {
    parts: () => ({
      confirmWithinMs: 1000,
      enqueue: never,
      rewards: { track: never, watched: never, confirmation: never },
    }),
    outcome: () => 'pending',
    in: ['opening'],
  },
  'asks to be closed, again and again': {
    strikes: () => say('close'),
    outcome: () => 'rewarded',
    in: withAd,
    of: ['html'],
  },
  'leaves its own page': {
    strikes: () => say('leave'),
    outcome: () => 'rewarded',
    in: withAd,
    of: ['html'],
  },
  'is ended by Escape keys': {
    strikes: () => userEvent.keyboard('{Escape}{Escape}{Escape}'),
    outcome: () => 'rewarded',
    in: ['opening'],
  },
};

/** Tells in the moment in which the end card comes: as fast as the clock goes, it is soon gone. */
function endCardComes(tell: () => void): void {
  const { dialog, shown } = overlay();
  if (!dialog) return;
  new MutationObserver((_changes, observer) => {
    if (shown('.end') === undefined) return;
    observer.disconnect();
    tell();
  }).observe(dialog, { subtree: true, attributes: true });
}

/** Runs a break until `phase`. */
function play(kind: string, phase: Phase, fault: Fault) {
  const stage = setStage();
  const traces = watchTraces();
  const time = fastClock(kind === 'video' ? speed.withVideo : speed.without);
  const parts = fault.parts?.();
  const abort = new AbortController();
  const confirmed = deferred<RewardReport>();
  const reached = deferred<void>();
  const reach = (now: Phase) => now === phase && reached.resolve();
  const settled: string[] = [];

  const decision = decide(
    kinds[kind] ?? image,
    { min_watch_ms: phase === 'watched' || kind !== 'video' ? 1600 : 2400, close_after_ms: 0 },
    // An end card takes its time too, so a video, which can't be hastened, has one where it matters.
    kind === 'video' && phase !== 'endCard' ? undefined : 'https://advertiser.test/',
  );
  const running = stage.run(
    decision,
    {
      signal: abort.signal,
      onOpen() {
        reach('opening');
      },
      onStart() {
        time.hasten();
        if (phase === 'playing') reach('playing');
        if (phase === 'asking') overlay().shown('button.close')?.click();
        reach('asking');
        endCardComes(() => reach('endCard'));
      },
    },
    {
      clock: time.clock,
      loadTimeoutMs: 100_000,
      confirmWithinMs: 100_000,
      // The service's word comes after the fault, or never in time.
      rewards: {
        async track() {},
        async watched() {
          stage.log.push('watched');
          reach('watched');
        },
        async confirmation(decisionId) {
          stage.log.push('confirmation');
          reach('confirming');
          if (phase !== 'confirming') return earned(decisionId);
          return confirmed.promise;
        },
      },
      ...parts,
    },
  );
  void running.then(({ outcome }) => settled.push(outcome));
  const earned = (decisionId: string): RewardReport => ({ decisionId, state: 'earned' });
  if (phase === 'requesting') reached.resolve();
  return {
    stage,
    traces,
    time,
    abort,
    settled,
    until: () => reached.promise,
    end: () => {
      confirmed.resolve(earned(decision.id));
      return running;
    },
  };
}

describe.each(Object.keys(kinds))('A break with %s', (kind) => {
  let scene: Scene | undefined;

  beforeEach(() => {
    document.addEventListener('play', playFast, true);
    return page.viewport(640, 360);
  });
  afterEach(() => {
    document.removeEventListener('play', playFast, true);
    scene?.traces.stop();
  });

  const cells = Object.entries(faults).flatMap(([name, fault]) =>
    (fault.in ?? phases)
      .filter(() => fault.of === undefined || fault.of.includes(kind))
      .map((phase) => ({ name, phase, fault, outcome: fault.outcome(phase) })),
  );

  it.each(cells)('that $name while $phase ends as $outcome', async ({ fault, outcome, phase }) => {
    scene = play(kind, phase, fault);
    const { settled, stage, time, traces } = scene;
    await scene.until();
    await fault.strikes?.(scene);
    const result = await scene.end();
    expect(result.outcome).toBe(outcome);
    expect(time.passed()).toBeLessThan(longestMs + time.allowance);
    await vi.waitFor(() => expect(stage.isGivenBack()).toEqual(givenBack));
    expect(settled).toEqual([outcome]);
    expect(stage.count('hold')).toBe(stage.count('release'));
    // Aborted, a break does not wait until all is told: that needs the rest of this task.
    await new Promise((resolve) => setTimeout(resolve));
    expect(stage.count('complete')).toBe(stage.count('watched'));
    expect(traces.left()).toEqual([]);
    expect(time.timers()).toBe(0);
    const heard = vi.fn();
    window.addEventListener('keydown', heard, { once: true });
    await userEvent.keyboard('x');
    expect(heard).toHaveBeenCalledTimes(1);
  });
});
