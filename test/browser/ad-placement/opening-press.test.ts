import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cdp, page, server } from 'vitest/browser';
import { createAdPlacement } from '../../../src/ad-placement/index.ts';
import { type Ads, createAds } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import {
  createPublishableKey,
  createStubService,
  picture,
  type StubService,
} from '../../support/stub-service.ts';
import { finger, keyboard, keys, mouse } from '../engine/real-input.ts';

// A press that opens an ad was meant for the game, whatever opens the ad and whatever the press is made with.

let ads: Ads;
let service: StubService;
let button: HTMLButtonElement;

const openers: Record<string, () => void> = {
  'showInterstitial()': () => void ads.showInterstitial('level-end'),
  'showRewarded()': () => void ads.showRewarded('revive'),
  'adBreak()': () =>
    createAdPlacement(ads, { placements: { next: 'level-end' } }).adBreak({ type: 'next' }),
};

const space = { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' } as never;
const center = { x: 320, y: 240 };
const sendMouse = (type: string, more: object) =>
  cdp().send('Input.dispatchMouseEvent', { type, button: 'left', ...center, ...more } as never);

/**
 * Ways to press the button, with the events that the game may open an ad in. The second of two presses doesn't wait for
 * the first, because on a busy machine it could come so late that it is meant for the ad.
 */
const presses: Record<string, [press: () => Promise<void>, events: string[]]> = {
  mouse: [
    async () => {
      await mouse.down(button);
      await mouse.up(button);
    },
    ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'],
  ],
  'double click': [
    async () => {
      await Promise.all(
        [1, 2].flatMap((clickCount) =>
          ['mousePressed', 'mouseReleased'].map((type) =>
            sendMouse(type, { buttons: 1, clickCount }),
          ),
        ),
      );
    },
    ['mousedown', 'click', 'dblclick'],
  ],
  pen: [
    async () => {
      const pointer = new Promise<string>((resolve) =>
        button.addEventListener('pointerdown', (event) => resolve(event.pointerType), {
          once: true,
        }),
      );
      for (const [type, buttons] of [
        ['mousePressed', 1],
        ['mouseReleased', 0],
      ] as const)
        await sendMouse(type, { buttons, clickCount: 1, pointerType: 'pen' });
      expect(await pointer).toBe('pen');
    },
    ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'],
  ],
  finger: [
    async () => {
      await finger.tap(button);
    },
    ['pointerdown', 'touchstart', 'pointerup', 'touchend', 'mousedown', 'click'],
  ],
  'two taps': [
    async () => {
      await Promise.all([1, 2].flatMap(() => [finger.down(button), finger.up(button)]));
    },
    ['touchstart', 'touchend', 'click'],
  ],
  Enter: [
    async () => {
      await keyboard.down(keys.enter);
      await keyboard.up(keys.enter);
    },
    ['keydown', 'keyup', 'click'],
  ],
  'a held Enter': [
    async () => {
      await keyboard.down(keys.enter);
      await keyboard.repeat(keys.enter);
      await keyboard.repeat(keys.enter);
      await keyboard.up(keys.enter);
    },
    ['keydown', 'click'],
  ],
  Space: [
    async () => {
      await keyboard.down(space);
      await keyboard.up(space);
    },
    ['keydown', 'keyup', 'click'],
  ],
};

let followed: string[];
let listening: AbortController;

beforeEach(async () => {
  await page.viewport(640, 480);
  followed = [];
  listening = new AbortController();
  vi.spyOn(window, 'open').mockImplementation((url) => {
    followed.push(String(url));
    return null;
  });
  const follow = (click: Event): void => {
    const [link] = click.composedPath();
    if (link instanceof HTMLAnchorElement && !click.defaultPrevented) followed.push(link.href);
  };
  document.addEventListener('click', follow, { signal: listening.signal });
  service = createStubService();
  service.respond = ({ placement }) => {
    const { creative, ...rest } = picture(60_000);
    return {
      ...rest,
      ...(creative && { creative: { ...creative, click_url: 'https://advertiser.test/' } }),
      ...(placement === 'level-end' && { format: 'interstitial' as const }),
    };
  };
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://play.test',
    userRef: 'player-1',
    fetch: service.fetch,
  });
  // It covers the page, so the ad's link and image open under the pointer.
  button = document.createElement('button');
  button.style.cssText = 'position:fixed;inset:0;width:640px;height:480px';
  document.body.replaceChildren(button);
  button.focus();
  await Promise.all(['level-end', 'revive'].map((placement) => ads.preload(placement)));
});
afterEach(() => {
  listening.abort();
  ads.destroy();
});

describe.runIf(server.browser === 'chromium')('The press that opens an ad', () => {
  it.each(
    rowsForRun(
      Object.entries(presses).flatMap(([device, [press, events]]) =>
        events.flatMap((event) =>
          Object.keys(openers).map((opener) => [device, event, opener, press] as const),
        ),
      ),
      4,
    ),
  )('%s in %s, with %s, does not click it', async (_device, event, opener, press) => {
    button.addEventListener(event, openers[opener] as () => void, { once: true });
    await press();
    await eventually(() => expect(ads.diagnostics().showing).not.toBeNull());
    await eventually(() => expect(service.events.map(({ type }) => type)).toContain('start'));
    expect(followed).toEqual([]);
    expect(service.events.map(({ type }) => type)).not.toContain('click');
  });

  // Chromium has no way to connect a gamepad in a test, so this is a stand-in for what a page reads of one.
  it.each(rowsForRun(Object.keys(openers), 4))(
    'a gamepad’s button, with %s, does not click it',
    async (opener) => {
      let held: number[] = [];
      let reads = 0;
      vi.spyOn(navigator, 'getGamepads').mockImplementation(() => {
        reads += 1;
        const buttons = Array.from({ length: 17 }, (_, index) => ({
          pressed: held.includes(index),
        }));
        return [{ index: 0, connected: true, axes: [0, 0], buttons } as unknown as Gamepad];
      });
      // Where a gamepad is a user gesture, it can open the ad's link.
      vi.spyOn(UserActivation.prototype, 'isActive', 'get').mockReturnValue(true);
      const link = (): HTMLElement | undefined =>
        [...document.querySelectorAll('*')]
          .flatMap(({ shadowRoot }) => [...(shadowRoot?.querySelectorAll('a') ?? [])])
          .find((element) => element.checkVisibility());
      /** Waits until the ad has read what is held, and acted on it, in some of its frames. */
      const untilRead = async (frames: number): Promise<void> => {
        const before = reads;
        await eventually(() => expect(reads).toBeGreaterThan(before + frames));
      };

      held = [0];
      openers[opener]?.();
      await eventually(() => expect(service.events.map(({ type }) => type)).toContain('start'));
      // Longer than the ad ignores input, at up to 120 frames per second.
      await untilRead(120);
      link()?.focus();
      expect(link()?.matches(':focus')).toBe(true);
      held = [];
      await untilRead(2);
      expect(followed).toEqual([]);
      expect(service.events.map(({ type }) => type)).not.toContain('click');
    },
  );
});
