import { afterEach, beforeEach, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { eventually } from '../../support/eventually.ts';
import { click } from '../engine/real-input.ts';
import { decide, html, image, overlay, setStage } from './stage-set.ts';

// An engine turns its container by CSS if the player holds the phone the other way than the game wants. The ad turns with
// it.

let stage: ReturnType<typeof setStage>;
let container: HTMLElement;
let controller: AbortController;
let ad: ReturnType<typeof stage.run>;

beforeEach(async () => {
  await page.viewport(360, 640);
  stage = setStage();
  container = document.createElement('div');
  container.id = 'GameDiv';
  document.body.replaceChildren(container);
  container.append(stage.canvas);
  // As on the page of a game that fills the screen. An ad leaves the page's scroll bars uncovered.
  document.documentElement.style.overflow = 'hidden';
  controller = new AbortController();
});
afterEach(async () => {
  document.documentElement.style.overflow = '';
  controller.abort();
  await ad;
});

function open(media = image): void {
  ad = stage.run(decide(media, { min_watch_ms: 60_000 }), { signal: controller.signal });
}

/** Returns the edge of the screen at which the ad has its title, if it fills the screen. */
function findTop(): string | undefined {
  const { dialog, findVisible } = overlay();
  const box = dialog?.getBoundingClientRect();
  const header = findVisible('header')?.getBoundingClientRect();
  if (!box || !header) return undefined;
  const filled = [box.left, box.top, box.right, box.bottom].map(Math.round);
  expect(filled).toEqual([0, 0, innerWidth, innerHeight]);
  const across = header.width < header.height;
  const isAtStart = across ? header.left < 10 : header.top < 10;
  return across ? (isAtStart ? 'left' : 'right') : isAtStart ? 'top' : 'bottom';
}

const expectTop = (edge: string) => eventually(() => expect(findTop()).toBe(edge));

it.each([
  ['transform: rotate(90deg)', 'right'],
  ['transform: rotate(-90deg) translateX(-640px)', 'left'],
  ['transform: rotate(180deg)', 'bottom'],
  ['transform: rotate(270deg)', 'left'],
  ['transform: matrix(0, 0.5, -0.5, 0, 360, 0)', 'right'],
  ['rotate: 90deg', 'right'],
  ['rotate: 0.25turn; transform: rotate(90deg)', 'bottom'],
  ['rotate: x 60deg', 'top'],
  ['transform: rotate(-10deg)', 'top'],
  ['transform: scale(2) translate(5px, 5px)', 'top'],
  ['transform: scaleX(-1)', 'top'],
  ['', 'top'],
])('a container with “%s” has the top of its ad at the %s', async (style, edge) => {
  container.style.cssText = style;
  open();
  await expectTop(edge);
});

it('turns add up', async () => {
  document.body.style.transform = 'rotate(45deg)';
  container.style.transform = 'rotate(45deg)';
  open();
  await expectTop('right');
  document.body.style.transform = '';
});

it('turns with the game while the ad is up, and keeps its page', async () => {
  const style = document.createElement('style');
  style.textContent = '.upright { transform: rotate(90deg) }';
  document.head.append(style);
  open(html(`port.postMessage({ type: 'ready' })`));
  await expectTop('top');
  const frame = document.querySelector('iframe')?.contentWindow;
  // The screen turns, and the engine follows some time later.
  await page.viewport(640, 360);
  await expectTop('top');
  container.style.transform = 'rotate(-90deg)';
  await expectTop('left');
  container.style.transform = '';
  await expectTop('top');
  container.className = 'upright';
  await expectTop('right');
  // Another frame would have loaded the ad again.
  expect(document.querySelector('iframe')?.contentWindow).toBe(frame);
  style.remove();
});

it('follows a style sheet that turns the game with the screen', async () => {
  const style = document.createElement('style');
  style.textContent = '@media (orientation: portrait) { #GameDiv { transform: rotate(90deg) } }';
  document.head.append(style);
  open();
  await expectTop('right');
  await page.viewport(640, 360);
  await expectTop('top');
  await page.viewport(360, 640);
  await expectTop('right');
  style.remove();
});

it('a press on a control of a turned ad reaches it', async () => {
  container.style.transform = 'rotate(90deg)';
  ad = stage.run(decide(image, { min_watch_ms: 60_000 }), { signal: controller.signal });
  await expectTop('right');
  await eventually(() => expect(overlay().findVisible('button.close')).toBeDefined());
  await eventually(async () => {
    const close = overlay().findVisible('button.close');
    if (close && !overlay().findVisible('.ask')) await click(close);
    expect(overlay().findVisible('.ask')).toBeDefined();
  });
  const leave = overlay().findVisible('.ask button:last-child');
  const { width, height } = leave?.getBoundingClientRect() ?? new DOMRect();
  expect(width).toBeLessThan(height);
  if (leave) await click(leave);
  expect((await ad).outcome).toBe('dismissed');
});

it('a low screen that is turned has the small layout', async () => {
  await page.viewport(240, 640);
  container.style.transform = 'rotate(90deg)';
  open();
  await expectTop('right');
  // The title is hidden on a screen as low as this.
  expect(overlay().findVisible('.title')).toBeUndefined();
});
