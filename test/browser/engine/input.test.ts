import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { server } from 'vitest/browser';
import type { ShowResult } from '../../../src/outcome.ts';
import {
  createPublishableKey,
  picture,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';
import { eventually } from '../../support/eventually.ts';
import { overlay } from '../ad-break/stage-set.ts';
import { frames } from '../phaser/phaser-games.ts';
import { games, type GameWithAds } from './games.ts';
import { finger, keyboard, keys, mouse } from './real-input.ts';

// Tests keys and pointers that are held down while an ad opens, with every driver. After the ad, the game must receive
// each release exactly once. The tests use real input, which only Chromium can emulate from a page.

describe.runIf(server.browser === 'chromium').each(games)('With $name', ({ start }) => {
  let service: StubService;
  let game: GameWithAds;
  let abortController: AbortController;
  let running: Promise<ShowResult>;

  beforeEach(async () => {
    document.body.replaceChildren();
    service = createStubService();
    service.respond = () => picture(60_000);
    game = await start({
      publishableKey: createPublishableKey(),
      serviceUrl: 'https://ads.test',
      fetch: service.fetch,
    });
    game.canvas.style.cssText = 'position: fixed; left: 40px; top: 80px';
    if (document.activeElement !== game.canvas) game.canvas.tabIndex = 0;
    game.canvas.focus();
    await frames(2);
  });

  afterEach(async () => {
    await game.end();
  });

  async function openAd(): Promise<HTMLElement> {
    abortController = new AbortController();
    const adStarted = new Promise<void>((resolve) => void game.ads.on('start', () => resolve()));
    running = game.ads.showRewarded('revive', { signal: abortController.signal });
    await adStarted;
    const dialog = overlay().dialog;
    if (!dialog) throw new Error('No ad is on the screen.');
    return dialog;
  }

  async function endAd(): Promise<void> {
    abortController.abort();
    expect((await running).outcome).toBe('aborted');
  }

  /**
   * Asserts that the game has received exactly this input since the last check. Then waits a few frames to catch
   * unexpected input.
   */
  async function expectInput(...expected: string[]): Promise<void> {
    const received: string[] = [];
    await eventually(() => {
      received.push(...game.takeInput());
      expect(received).toEqual(expected);
    });
    await frames(3);
    expect(game.takeInput()).toEqual([]);
  }

  it('the game receives a single keyup for an auto-repeating key that is released during the ad', async () => {
    await keyboard.down(keys.right);
    await keyboard.repeat(keys.right);
    game.takeInput();
    await openAd();
    await keyboard.repeat(keys.right);
    await keyboard.repeat(keys.right);
    await keyboard.up(keys.right);
    expect(game.takeInput()).toEqual([]);
    await endAd();
    await expectInput('keyup ArrowRight');
    await keyboard.down(keys.right);
    await keyboard.up(keys.right);
    expect(game.takeInput()).toEqual(['keydown ArrowRight', 'keyup ArrowRight']);
  });

  it('the game receives a single keyup for each of two keys that are released during the ad', async () => {
    await keyboard.down(keys.right);
    await keyboard.down(keys.up);
    await frames(2);
    game.takeInput();
    await openAd();
    await keyboard.up(keys.right);
    await keyboard.up(keys.up);
    await endAd();
    await expectInput('keyup ArrowRight', 'keyup ArrowUp');
  });

  it('a key that is held throughout the ad stays down until it is released', async () => {
    await keyboard.down(keys.right);
    game.takeInput();
    await openAd();
    await keyboard.repeat(keys.right);
    await endAd();
    await expectInput();
    await keyboard.up(keys.right);
    expect(game.takeInput()).toEqual(['keyup ArrowRight']);
  });

  it('the game does not receive key repeats from the key press that closed the ad', async () => {
    await openAd();
    game.takeInput();
    const close = () => overlay().findVisible('button.close');
    await eventually(() => expect(close()).toBeDefined());
    // At first, input is ignored.
    await eventually(async () => {
      close()?.focus();
      await keyboard.down(keys.enter);
      await keyboard.up(keys.enter);
      expect(overlay().findVisible('.ask')).toBeDefined();
    });
    overlay().findVisible('.ask button:last-child')?.focus();
    await keyboard.down(keys.enter);
    expect((await running).outcome).toBe('dismissed');
    await keyboard.repeat(keys.enter);
    await keyboard.up(keys.enter);
    await expectInput();
    await keyboard.down(keys.enter);
    await keyboard.up(keys.enter);
    expect(game.takeInput()).toEqual(['keydown Enter', 'keyup Enter']);
  });

  it('releasing a mouse button during the ad does not click anything in the game', async () => {
    await mouse.down(game.canvas);
    expect(game.takeInput()).toEqual(['press']);
    const dialog = await openAd();
    await mouse.drag(dialog);
    await mouse.up(dialog);
    expect(game.takeInput()).toEqual([]);
    await endAd();
    await expectInput('release away');
    await mouse.down(game.canvas);
    await mouse.up(game.canvas);
    expect(game.takeInput()).toEqual(['press', 'release', 'click']);
  });

  it('the game receives the release when a mouse button is released over an HTML ad’s iframe', async () => {
    service.respond = () => ({ ...picture(60_000), creative: htmlCreative });
    await mouse.down(game.canvas);
    game.takeInput();
    await openAd();
    const frame = document.querySelector('iframe');
    if (!frame) throw new Error('The ad has no iframe.');
    await mouse.drag(frame);
    await mouse.up(frame);
    await endAd();
    await expectInput('release away');
  });

  it('a touch that ends during the ad ends in the game without causing a click', async () => {
    await finger.down(game.canvas);
    expect(game.takeInput()).toEqual(['press']);
    const dialog = await openAd();
    let clicks = 0;
    dialog.addEventListener('click', () => (clicks += 1));
    await finger.drag(game.canvas);
    await finger.up();
    await frames(2);
    expect(game.takeInput()).toEqual([]);
    expect(clicks).toBe(0);
    await endAd();
    await expectInput('release away');
    await finger.tap(game.canvas);
    await frames(2);
    expect(game.takeInput().slice(0, 2)).toEqual(['press', 'release']);
  });

  it('a touch that is held throughout the ad ends once, after the ad', async () => {
    await finger.down(game.canvas);
    await openAd();
    await endAd();
    game.takeInput();
    await finger.up();
    expect(game.takeInput()[0]).toBe('release');
    expect(game.takeInput()).toEqual([]);
  });

  it('the game receives no mouse or touch input during the ad', async () => {
    await openAd();
    game.takeInput();
    const close = () => overlay().findVisible('button.close');
    await eventually(() => expect(close()).toBeDefined());
    // At first, input is ignored.
    const keep = await eventually(async () => {
      await mouse.down(close() as Element);
      await mouse.up(close() as Element);
      const button = overlay().findVisible('.ask .main');
      expect(button).toBeDefined();
      return button;
    });
    await finger.tap(keep as Element);
    await eventually(() => expect(overlay().findVisible('.ask .main')).toBeUndefined());
    expect(game.takeInput()).toEqual([]);
    await endAd();
    await expectInput();
  });

  it('the ad releases the game’s pointer lock', async () => {
    await mouse.down(game.canvas);
    await mouse.up(game.canvas);
    await game.canvas.requestPointerLock();
    await eventually(() => expect(document.pointerLockElement).toBe(game.canvas));
    await openAd();
    await eventually(() => expect(document.pointerLockElement).toBeNull());
    await endAd();
  });
});

const htmlCreative = {
  id: 'crv_01jabcdefghjkmnpqrstvwxyz0',
  alt: 'Meadow, a quiet game about sheep',
  media: {
    format: 'html' as const,
    inline: `<!doctype html><script>
      addEventListener('message', ({ ports: [port] }) => port.postMessage({ type: 'ready' }));
    </script>`,
    width: 320,
    height: 180,
  },
};
