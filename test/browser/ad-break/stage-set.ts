import { vi } from 'vitest';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import type { InputGate } from '../../../src/ad-break/input-gate.ts';
import {
  runAdBreak,
  type BreakDeps,
  type BreakRequest,
} from '../../../src/ad-break/run-ad-break.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import type { FilledDecision, ReadyAd } from '../../../src/decision/request-ad.ts';
import { english } from '../../../src/creative/strings.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import type { NewAdEvent } from '../../../src/outbox/outbox.ts';
import type { RewardReport } from '../../../src/outcome.ts';
import { type Clock, createDeadline, systemClock } from '../../../src/platform/clock.ts';

const file = (name: string, mime: string) => ({
  url: new URL(`../../media/${name}`, import.meta.url).href,
  mime,
  width: 320,
  height: 180,
});

export const video: DecisionCreative['media'] = {
  format: 'video',
  files: [file('clip.mp4', 'video/mp4'), file('clip.webm', 'video/webm')],
  duration_ms: 3000,
};
export const image: DecisionCreative['media'] = {
  format: 'image',
  files: [file('picture.png', 'image/png')],
};
/** The URL of a 77 × 15 pixel image. */
export const adChoices = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="77" height="15"><rect width="77" height="15" fill="#fff"/>
    <path d="M65 2l9 5.5-9 5.5z" fill="#00aecd"/></svg>`,
)}`;
export const missingMedia = (format: 'video' | 'image'): DecisionCreative['media'] =>
  format === 'video'
    ? { format, files: [file('missing.mp4', 'video/mp4')], duration_ms: 3000 }
    : { format, files: [file('missing.png', 'image/png')] };

/** Creates an HTML creative whose script can use its message port as `port`. */
export const html = (script: string): DecisionCreative['media'] => ({
  format: 'html',
  inline: `<!doctype html><body><button id="b">Ad</button><script>
    addEventListener('message', ({ data, ports: [port] }) => { ${script} });
  </script>`,
  width: 320,
  height: 180,
});

export function decide(
  media: DecisionCreative['media'],
  more: Partial<FilledDecision> = {},
  clickUrl?: string,
): FilledDecision {
  return {
    id: 'dec_01jabcdefghjkmnpqrstvwxyz0',
    status: 'filled',
    placement: 'revive',
    format: 'rewarded',
    creative: {
      id: 'crv_01jabcdefghjkmnpqrstvwxyz0',
      media,
      alt: 'Meadow, a quiet game about sheep',
      ...(clickUrl === undefined ? {} : { click_url: clickUrl }),
    },
    reward: { type: 'coins', amount: 50 },
    min_watch_ms: 200,
    // Later than the moment in which input is ignored.
    close_after_ms: 600,
    token: 'token',
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    ...more,
  };
}

/** Loads a decision's ad, as a preload does. */
export async function load(
  decision: FilledDecision,
  options: { clock: Clock; signal: AbortSignal },
): Promise<ReadyAd> {
  const lifetimeMs = Date.parse(decision.expires_at) - Date.parse(decision.issued_at);
  const expiry = createDeadline(options.clock, lifetimeMs);
  return { decision, creative: await loadCreative(decision, options), expiry };
}

/** The overlay's strings, in English. */
export const englishText: BreakDeps['text'] = { strings: () => english, ready: Promise.resolve() };
/** Admits every press. */
export const openGate: InputGate = { admit: () => true, rest() {}, destroy() {} };

/** Sets up a page with a game in which a test can run ad breaks. */
export function setStage() {
  const canvas = document.createElement('canvas');
  canvas.style.cssText = 'position:fixed;inset:0;width:100vw;height:100vh';
  canvas.tabIndex = 0;
  document.body.replaceChildren(canvas);
  canvas.focus();
  const log: string[] = [];
  const events: NewAdEvent[] = [];
  let confirmed: RewardReport['state'] = 'earned';

  async function take(decision: FilledDecision, signal: AbortSignal, clock: Clock) {
    try {
      return await load(decision, { clock, signal });
    } catch (error) {
      return { outcome: 'error', reason: 'load_failed', detail: String(error) } as const;
    }
  }

  function run(
    decision: FilledDecision,
    request: Partial<BreakRequest> = {},
    more: Partial<BreakDeps> = {},
  ) {
    const engine = noEngine(canvas);
    const clock = more.clock ?? systemClock;
    return runAdBreak(
      {
        take: (_placement, signal) => take(decision, signal, clock),
        async enqueue(event) {
          log.push(event.type);
          events.push(event);
        },
        rewards: {
          async track() {
            log.push('track');
          },
          async setWatched() {
            log.push('watched');
          },
          async confirmation(decisionId) {
            log.push('confirmation');
            return { decisionId, state: confirmed, reward: { type: 'coins', amount: 50 } };
          },
        },
        engine: {
          ...engine,
          hold() {
            log.push('hold');
            const release = engine.hold();
            return () => {
              log.push('release');
              release();
            };
          },
        },
        clock,
        text: englishText,
        confirmationTimeoutMs: 1000,
        loadTimeoutMs: 8000,
        ...more,
      },
      {
        placement: 'revive',
        kind: 'rewarded',
        onOpen: () => log.push('onOpen'),
        onClose: () => log.push('onClose'),
        ...request,
      },
    );
  }

  return {
    canvas,
    log,
    events,
    run,
    confirmAs: (state: RewardReport['state']) => (confirmed = state),
    count: (name: string) => log.filter((entry) => entry === name).length,
    /**
     * Reads the page state that an ad break must restore: the game is on top and has focus, and nothing from the SDK
     * remains.
     */
    readPageState: () => ({
      nodes: document.body.children.length,
      top: document.elementFromPoint(innerWidth / 2, innerHeight / 2) === canvas,
      focus: document.activeElement === canvas,
    }),
  };
}

/** The page state after an ad break. */
export const restoredState = { nodes: 1, top: true, focus: true };

/** Returns the overlay's content, or `undefined` if there is no overlay. */
export function overlay() {
  const root = [...document.body.children].find((child) => child.shadowRoot)?.shadowRoot;
  const findVisible = (selector: string) =>
    [...(root?.querySelectorAll<HTMLElement>(selector) ?? [])].find((element) =>
      element.checkVisibility(),
    );
  return { root, findVisible, dialog: root?.querySelector('dialog') };
}

/** Pauses an ad's video as a media key, a phone call or another audio session does. The page can't. */
export const pauseBySystem = (video: HTMLVideoElement | null): unknown =>
  video && Reflect.apply(HTMLMediaElement.prototype.pause, video, []);

/** Presses a control until `isDone`, because input is ignored at first. */
export const pressUntil = (selector: string, isDone: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      if (!isDone()) overlay().findVisible(selector)?.click();
      if (!isDone()) throw new Error(`Pressing ${selector} has had no effect.`);
    },
    { timeout: 20_000 },
  );
