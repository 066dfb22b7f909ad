import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cdp, page, server } from 'vitest/browser';
import { findTabStops } from '../../../src/creative/overlay.ts';
import type { ShowResult } from '../../../src/outcome.ts';
import { onInput, openFrontDoor } from '../../../src/platform/front-door.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { finger, keyboard, keys, mouse } from '../engine/real-input.ts';
import { decide, html, image, overlay, setStage } from './stage-set.ts';

// Tests what the page does to input during an ad, with real input, which only Chromium can emulate from a page.

const types = ['keydown', 'keyup', 'keypress', 'click', 'auxclick', 'wheel', 'touchmove'].concat([
  'pointerdown',
  'pointerup',
  'mousedown',
  'mouseup',
  'touchstart',
  'touchend',
]);

let clock: ManualClock;
let stage: ReturnType<typeof setStage>;
let abort: AbortController;
let running: Promise<ShowResult> | undefined;

/** Whether a listener of the page, from before the SDK was loaded, prevents what keys do. */
let preventsKeys = false;
for (const type of ['keydown', 'keypress', 'keyup'])
  window.addEventListener(type, (event) => preventsKeys && event.preventDefault(), true);
openFrontDoor();

beforeEach(async () => {
  await page.viewport(640, 480);
  clock = createManualClock();
  stage = setStage();
  abort = new AbortController();
});
afterEach(async () => {
  abort.abort();
  await running;
  running = undefined;
  vi.restoreAllMocks();
});

const never = { min_watch_ms: 60_000, close_after_ms: 0 };
const linkUrl = 'https://advertiser.test/';

/** Opens an ad that has a link and can be closed. */
async function openAd(media = image): Promise<void> {
  running = stage.run(decide(media, never, linkUrl), { signal: abort.signal }, { clock });
  await eventually(() => expect(stage.count('start')).toBe(1));
  // Two frames after the ad has opened.
  await nextFrame();
  await clock.advance(0);
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const find = (selector: string) => {
  const element = overlay().findVisible(selector);
  if (element === undefined) throw new Error(`${selector} is not shown`);
  return element;
};
const isAsking = () => overlay().findVisible('.ask') !== undefined;

/** Lets the link do everything but open the page. */
function disarmLinks(): void {
  vi.spyOn(window, 'open').mockReturnValue(null);
  for (const link of overlay().root?.querySelectorAll('a') ?? []) link.removeAttribute('href');
}

const space = { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' } as never;
const key = (name: string, code: number) =>
  ({ key: name, code: name, windowsVirtualKeyCode: code }) as never;

/** Ways to press a control. */
const devices: Record<string, (control: HTMLElement) => Promise<void>> = {
  async mouse(control) {
    await mouse.down(control);
    await mouse.up(control);
  },
  async finger(control) {
    await finger.tap(control);
  },
  async Enter(control) {
    control.focus();
    await keyboard.down(keys.enter);
    await keyboard.up(keys.enter);
  },
  async Space(control) {
    control.focus();
    await keyboard.down(space);
    await keyboard.up(space);
  },
};

describe.runIf(server.browser === 'chromium')('Input', () => {
  const spoilers: [string, () => EventTarget, keyof Event][] = [
    () => window,
    () => document,
    () => document.documentElement,
    () => document.body,
  ].flatMap((target) =>
    (['preventDefault', 'stopImmediatePropagation'] as const).map(
      (method) =>
        [String(target).replace(/.*=> /, ''), target, method] as [
          string,
          () => EventTarget,
          keyof Event,
        ],
    ),
  );

  it.each(rowsForRun(spoilers, 2))(
    'reaches the ad if listeners on %s call $2',
    async (_, target, method) => {
      const spoil = (event: Event) => (event[method] as () => void)();
      const controller = new AbortController();
      const options = { capture: true, passive: false, signal: controller.signal };
      for (const type of types) target().addEventListener(type, spoil, options);
      try {
        await openAd();
        await clock.advance(600);
        for (const [device, press] of Object.entries(devices)) {
          await press(find('button.close'));
          await eventually(() => expect(isAsking(), device).toBe(true));
          await press(find('.ask .main'));
          await eventually(() => expect(isAsking(), device).toBe(false));
        }
      } finally {
        controller.abort();
      }
    },
  );

  it.each([false, true])(
    'by key operates a control once, if the page prevents it: %s',
    async (prevents) => {
      preventsKeys = prevents;
      try {
        await openAd();
        await clock.advance(600);
        const close = find('button.close');
        const operated = vi.fn(close.onclick ?? undefined);
        close.onclick = operated;
        close.focus();
        for (const other of [keys.right, key('x', 88)]) {
          await keyboard.down(other);
          await keyboard.up(other);
        }
        expect(operated).not.toHaveBeenCalled();
        await devices['Enter']?.(close);
        await eventually(() => expect(isAsking()).toBe(true));
        await nextFrame();
        expect(operated).toHaveBeenCalledTimes(1);
      } finally {
        preventsKeys = false;
      }
    },
  );

  it('does not leave the ad', async () => {
    const received: string[] = [];
    const note = (event: Event) => void received.push(event.type);
    const controller = new AbortController();
    await openAd();
    await clock.advance(600);
    for (const target of [window, document, document.documentElement, document.body])
      for (const type of types)
        target.addEventListener(type, note, { capture: true, signal: controller.signal });
    for (const press of Object.values(devices)) await press(find('.title'));
    controller.abort();
    expect(received).toEqual([]);
  });

  it('is ignored until a person can have seen the ad, and after each click-through', async () => {
    await openAd();
    disarmLinks();
    for (const press of Object.values(devices)) {
      await clock.advance(90);
      await press(find('footer a'));
      await press(find('button.close'));
    }
    expect([stage.count('click'), isAsking()]).toEqual([0, false]);
    await clock.advance(600);
    await devices['mouse']?.(find('footer a'));
    await eventually(() => expect(stage.count('click')).toBe(1));
    await devices['mouse']?.(find('button.close'));
    expect(isAsking()).toBe(false);
    window.dispatchEvent(new Event('focus'));
    await clock.advance(600);
    await devices['mouse']?.(find('button.close'));
    await eventually(() => expect(isAsking()).toBe(true));
  });

  it.each(['mouse', 'finger'] as const)(
    'that began in the game with the %s is no click, however late it ends',
    async (device) => {
      const input = device === 'mouse' ? mouse : finger;
      // The canvas is where the ad's link will be.
      await input.down(stage.canvas);
      await openAd();
      disarmLinks();
      await clock.advance(5_000);
      await input.up(find('footer a'));
      await nextFrame();
      expect(stage.count('click')).toBe(0);
    },
  );

  it.each(['mouse', 'finger'] as const)(
    'that began in the ad with the %s does not reach the game, however late it ends',
    async (device) => {
      const input = device === 'mouse' ? mouse : finger;
      const received: string[] = [];
      const controller = new AbortController();
      await openAd();
      await clock.advance(600);
      await input.down(find('.stage'));
      for (const type of types.concat('pointercancel', 'touchcancel'))
        window.addEventListener(type, () => received.push(type), { signal: controller.signal });
      abort.abort();
      await running;
      await input.up(stage.canvas);
      // The next press is the game's own. Everything that followed from the first has arrived before it.
      await mouse.down(stage.canvas);
      await mouse.up(stage.canvas);
      await eventually(() => expect(received).toContain('click'));
      controller.abort();
      expect(received).toEqual(['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']);
    },
  );

  it('by a finger counts once while another one still rests on the game', async () => {
    await finger.down(stage.canvas);
    await openAd();
    disarmLinks();
    await clock.advance(600);
    await finger.tapBeside(stage.canvas, find('button.close'));
    await eventually(() => expect(isAsking()).toBe(true));
    await finger.up();
    await finger.tap(find('.ask .main'));
    await eventually(() => expect(isAsking()).toBe(false));
    expect(stage.count('close')).toBe(0);
  });

  it('that repeats a key from before the ad presses nothing', async () => {
    await keyboard.down(keys.enter);
    await openAd();
    await clock.advance(5_000);
    find('button.close').focus();
    await keyboard.repeat(keys.enter);
    await keyboard.up(keys.enter);
    expect(isAsking()).toBe(false);
  });

  it('with a second click of a double click presses nothing', async () => {
    await openAd();
    disarmLinks();
    await clock.advance(600);
    await mouse.click(find('footer a'), { clickCount: 2 });
    await nextFrame();
    expect(stage.count('click')).toBe(0);
    // The middle button opens the link too.
    await mouse.click(find('footer a'), { button: 'middle' });
    await eventually(() => expect(stage.count('click')).toBe(1));
  });

  it.each(rowsForRun([150, 20, 290, 400, 499], 3))(
    'counts within about a second if the player clicks every %d ms from before the ad on',
    async (everyMs) => {
      await mouse.down(stage.canvas);
      await mouse.up(stage.canvas);
      await openAd();
      let waitedMs = 0;
      for (let number = 2; !isAsking() && waitedMs < 5_000; number += 1) {
        await mouse.click(find('button.close'), { clickCount: number });
        await nextFrame();
        await clock.advance(everyMs);
        waitedMs += everyMs;
      }
      expect(waitedMs).toBeGreaterThan(300);
      expect(waitedMs).toBeLessThan(2_000);
    },
  );

  // Events of embedded browsers, such as those in a game launcher, have the time 0.
  it('counts in a browser whose events have no time', async () => {
    const times: number[] = [];
    const stop = onInput(({ timeStamp }) => times.push(timeStamp));
    await openAd();
    await clock.advance(600);
    await mouse.click(find('button.close'), { timestamp: 1 });
    stop();
    expect(times).toContain(0);
    await eventually(() => expect(isAsking()).toBe(true));
  });

  it('is prevented where it would scroll the page, not where it zooms', async () => {
    await openAd();
    const wheel = (init: WheelEventInit): boolean => {
      const event = new WheelEvent('wheel', {
        cancelable: true,
        bubbles: true,
        composed: true,
        ...init,
      });
      find('.title').dispatchEvent(event);
      return event.defaultPrevented;
    };
    expect([wheel({ deltaY: 1 }), wheel({ deltaY: 1, ctrlKey: true })]).toEqual([true, false]);
  });

  it('does not scroll the page', async () => {
    const tall = document.createElement('div');
    tall.style.height = '5000px';
    document.body.append(tall);
    scrollTo(0, 100);
    await openAd();
    await clock.advance(600);
    const frame = window.frameElement?.getBoundingClientRect() ?? new DOMRect();
    const point = { x: frame.left + 100, y: frame.top + 100 };
    await cdp().send('Input.dispatchMouseEvent', {
      type: 'mouseWheel',
      deltaX: 0,
      deltaY: 400,
      ...point,
    } as never);
    for (const pressed of [key('PageDown', 34), key('End', 35), key('ArrowDown', 40), space]) {
      await keyboard.down(pressed);
      await keyboard.up(pressed);
    }
    await finger.down(find('.title'));
    await finger.drag(find('.title'), 80);
    await finger.up();
    for (let count = 0; count < 10; count += 1) await nextFrame();
    expect(scrollY).toBe(100);
    tall.remove();
  });

  it('by Escape keeps watching when asked whether to close', async () => {
    await openAd();
    await clock.advance(600);
    const escape = async () => {
      await keyboard.down(keys.escape);
      await keyboard.up(keys.escape);
    };
    await escape();
    await eventually(() => expect(isAsking()).toBe(true));
    await escape();
    await eventually(() => expect(isAsking()).toBe(false));
    expect(stage.count('close')).toBe(0);
  });

  it('by Escape or by the page can’t close the ad for good', async () => {
    await openAd();
    const { dialog } = overlay();
    for (const asks of [true, false, true]) {
      // Chromium does so at the second press of Escape, which it lets no page prevent.
      dialog?.close();
      await eventually(() => expect([dialog?.open, isAsking()]).toEqual([true, asks]));
    }
    expect(stage.count('close')).toBe(0);
  });

  /** Connects a gamepad whose buttons and stick the test holds. */
  function connectGamepad(...down: number[]) {
    let [held, axes] = [down, [0, 0]];
    const getGamepads = vi.spyOn(navigator, 'getGamepads').mockImplementation(() => [
      {
        index: 0,
        connected: true,
        axes,
        buttons: Array.from({ length: 17 }, (_, index) => ({ pressed: held.includes(index) })),
      } as unknown as Gamepad,
    ]);
    const hold = async (buttons: number[], stick = [0, 0]) => {
      [held, axes] = [buttons, stick];
      await nextFrame();
      await nextFrame();
    };
    const press = async (button: number) => {
      await hold([button]);
      await hold([]);
    };
    const openWithGamepad = async () => {
      await openAd();
      // The code for gamepads is loaded when there is one, and then looks at it in each frame.
      await eventually(() => expect(getGamepads.mock.calls.length).toBeGreaterThan(2));
      await clock.advance(600);
    };
    return { hold, press, openWithGamepad };
  }

  it('by gamepad closes, chooses and mutes', async () => {
    const { hold, press, openWithGamepad } = connectGamepad(0);
    await openWithGamepad();
    // A button that was down when the ad opened does nothing when it is released.
    find('button.close').focus();
    await hold([]);
    expect(isAsking()).toBe(false);
    overlay().dialog?.querySelector<HTMLElement>('.frame')?.focus();
    await press(13);
    expect(overlay().root?.activeElement).toBe(find('button.close'));
    await press(0);
    await eventually(() => expect(isAsking()).toBe(true));
    await press(1);
    await eventually(() => expect(isAsking()).toBe(false));
    await press(1);
    await eventually(() => expect(isAsking()).toBe(true));
    // A stick that is held trembles.
    for (const x of [0.65, 0.55, 0.65, 0.3]) await hold([], [x, 0]);
    await press(0);
    expect((await running)?.outcome).toBe('dismissed');
  });

  it.each<[string, number[], number[], target: 0 | -1]>([
    ['the pad up', [12], [0, 0], -1],
    ['the pad down', [13], [0, 0], 0],
    ['the pad left', [14], [0, 0], -1],
    ['the pad right', [15], [0, 0], 0],
    ['the stick up', [], [0, -1], -1],
    ['the stick down', [], [0, 1], 0],
    ['the stick left', [], [-1, 0], -1],
    ['the stick right', [], [1, 0], 0],
  ])('by gamepad moves the focus: %s', async (_, buttons, stick, target) => {
    const { hold, openWithGamepad } = connectGamepad();
    await openWithGamepad();
    const { root, dialog } = overlay();
    const stops = root ? findTabStops(root) : [];
    expect(stops).toHaveLength(2);
    // Nothing is focused that can be pressed.
    dialog?.querySelector<HTMLElement>('.frame')?.focus();
    await hold(buttons, stick);
    await hold([]);
    expect(root?.activeElement).toBe(stops.at(target));
  });

  it('outside an HTML creative’s frame does not let the creative click', async () => {
    const media = html(`port.postMessage({ type: 'ready' });
      const click = () => { focus(); b.focus(); port.postMessage({ type: 'click' }) };
      port.onmessage = click; setInterval(click, 100)`);
    const button = document.body.appendChild(document.createElement('button'));
    button.style.cssText = 'position: fixed; inset: 0';
    // On a busy machine, the activation may have ended when the test goes on.
    let isActive = false;
    button.onclick = () => ({ isActive } = navigator.userActivation);
    await mouse.down(button);
    await mouse.up(button);
    button.remove();
    expect(isActive).toBe(true);
    await openAd(media);
    disarmLinks();
    while (navigator.userActivation.isActive || document.activeElement?.tagName !== 'IFRAME') {
      await nextFrame();
      await clock.advance(100);
      expect(stage.count('click')).toBe(0);
    }
    await mouse.down(document.querySelector('iframe') as Element);
    await mouse.up(document.querySelector('iframe') as Element);
    await eventually(async () => {
      await clock.advance(1_000);
      expect(stage.count('click')).toBe(1);
    });
  });
});
