import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import { watchViewability, type Visibility } from '../../../src/creative/viewability.ts';
import { native } from '../../../src/platform/native.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { waitUntilObserved } from './until-observed.ts';

const requiredMs = 1_000;
let clock: ManualClock;
let ad: HTMLElement;
let onViewable: { (visibility: Visibility): void; mock: { calls: [Visibility][] } };
let onUnseen: { (cause: string): void; mock: { calls: [string][] } };
let end: () => void = () => {};

function addBox(css: string): HTMLElement {
  const element = document.createElement('div');
  element.style.cssText = `position: fixed; width: 200px; height: 100px; ${css}`;
  document.body.append(element);
  return element;
}

async function watch() {
  const watcher = watchViewability(ad, { clock, isVideo: false, onViewable, onUnseen });
  end = watcher.destroy;
  await waitUntilObserved(ad);
  return watcher;
}

/** Waits longer than an impression requires. */
const wait = () => clock.advance(requiredMs * 2);

/** Asserts that an ad that has just become visible is reported after the required time and no earlier. */
async function expectImpression(): Promise<void> {
  await waitUntilObserved(ad);
  await clock.advance(requiredMs - 1);
  expect(onViewable).not.toHaveBeenCalled();
  // The watcher checks five times per second whether the ad is covered.
  await clock.advance(201);
  expect(onViewable).toHaveBeenCalledTimes(1);
}

beforeEach(async () => {
  await page.viewport(640, 360);
  document.body.replaceChildren();
  clock = createManualClock();
  onViewable = vi.fn<(visibility: Visibility) => void>();
  onUnseen = vi.fn<(cause: string) => void>();
  ad = addBox('left: 0; top: 0');
});
afterEach(() => {
  vi.restoreAllMocks();
  end();
});

it('counts a visible ad once', async () => {
  const watcher = await watch();
  await clock.advance(requiredMs - 1);
  // An additional check must neither report the ad early nor report it twice.
  watcher.setPlaying(true);
  expect(onViewable).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(onViewable.mock.calls[0]?.[0]).toEqual({ ratio: 1, ms: requiredMs });
  await wait();
  expect(onViewable).toHaveBeenCalledTimes(1);
  expect(clock.timers()).toBe(0);
});

it.each([
  ['is covered', () => addBox('left: 0; top: 0; background: red')],
  ['is mostly covered', () => addBox('left: 0; top: 0; height: 70px')],
])('counts an ad that %s only after it is uncovered', async (_, coverAd) => {
  const cover = coverAd();
  await watch();
  await wait();
  expect(onViewable).not.toHaveBeenCalled();
  cover.remove();
  await expectImpression();
});

it.each([
  ['is off the screen', 'left: -300px'],
  ['is mostly off the screen', 'left: -120px'],
])('counts an ad that %s only after it is visible again', async (_, css) => {
  ad.style.cssText += css;
  await watch();
  await wait();
  expect(onViewable).not.toHaveBeenCalled();
  ad.style.left = '0';
  await expectImpression();
});

it.each([
  ['is transparent', 'opacity: 0', /opacity is 0.00/],
  ['has a transparent parent', 'parent: opacity: 0.3', /opacity is 0.30, because of <section>/],
  ['has visibility hidden', 'visibility: hidden', /visibility is hidden/],
  ['is clipped away', 'clip-path: inset(50%)', /covers it|cut off/],
  ['has a parent that is clipped away', 'parent: clip-path: circle(0)', /covers it|cut off/],
  [
    'is clipped by the old property',
    'position: absolute; clip: rect(0, 0, 0, 0)',
    /covers it|cut off/,
  ],
  ['is scaled to nothing', 'transform: scale(0)', /size is 0 × 0/],
  ['is seen from the side', 'transform: rotateY(90deg)', /size is 0/],
  [
    'is seen from behind',
    'transform: rotateY(180deg); backface-visibility: hidden',
    /shows its back/,
  ],
  ['has no size', 'width: 0', /size is 0 × 100/],
  ['is not rendered', 'parent: display: none', /size is 0 × 0/],
  ['is filtered away', 'parent: filter: opacity(0)', /filter opacity\(0\)/],
  ['is blurred', 'filter: blur(10.5px)', /filter blur/],
  ['is darkened', 'filter: brightness(0.19)', /filter brightness/],
  ['is masked', 'mask-image: linear-gradient(transparent, transparent)', /mask/],
  ['is off the screen', 'left: -9999px', /outside the window/],
  [
    'is cut off by its parent',
    'position: static; parent: width: 0; height: 0; overflow: hidden',
    /cut off/,
  ],
  ['is covered', 'cover: background: red', /<div> \(.cover\) covers it/],
  [
    'is covered by something that ignores the pointer',
    'cover: background: red; pointer-events: none',
    /covers it/,
  ],
])('an ad that %s has no impression, and the cause is reported once', async (_, css, cause) => {
  const [, own = '', target, foreign] = /^(.*?)(?:(parent|cover): (.*))?$/.exec(css) ?? [];
  const section = document.createElement('section');
  document.body.append(section);
  section.append(ad);
  if (target === 'parent') section.style.cssText = foreign ?? '';
  if (target === 'cover') addBox(`left: 0; top: 0; ${foreign}`).className = 'cover';
  const original = ad.style.cssText;
  ad.style.cssText += `;${own}`;
  await watch();
  await clock.advance(10_000);
  expect(onViewable).not.toHaveBeenCalled();
  expect(onUnseen.mock.calls).toEqual([[expect.stringMatching(cause)]]);
  section.style.cssText = '';
  ad.style.cssText = original;
  document.querySelector('.cover')?.remove();
  await eventually(async () => {
    await waitUntilObserved(ad);
    await clock.advance(200);
    expect(onViewable).toHaveBeenCalledTimes(1);
  });
});

it.each([
  ['a transparent layer that ignores the pointer', 'left: 0; top: 0; pointer-events: none'],
  ['a small badge', 'left: 0; top: 0; width: 20px; height: 20px; background: red'],
])('counts an ad under %s', async (_, css) => {
  addBox(css);
  await watch();
  await expectImpression();
  expect(onUnseen).not.toHaveBeenCalled();
});

it.each(['filter: blur(10px)', 'filter: brightness(0.2)', 'filter: contrast(0.2)', 'opacity: 0.5'])(
  'counts an ad with %s, which a person still sees',
  async (css) => {
    const { cssText } = ad.style;
    ad.style.cssText += `;${css}`;
    await watch();
    await expectImpression();
    expect(onUnseen).not.toHaveBeenCalled();
    ad.style.cssText = cssText;
  },
);

it.each([
  ['a parent of its own that fades in', 'own', true],
  ['a transparent parent in the page', 'page', false],
])('whether an ad with a shadow root around it is seen in %s', async (_, transparent, isSeen) => {
  const section = document.body.appendChild(document.createElement('section'));
  const host = section.appendChild(document.createElement('div'));
  const own = document.createElement('div');
  own.append(document.createElement('slot'));
  host.attachShadow({ mode: 'open' }).append(own);
  host.append(ad);
  (transparent === 'own' ? own : section).style.opacity = '0';
  await watch();
  await clock.advance(10_000);
  expect(onViewable).toHaveBeenCalledTimes(isSeen ? 1 : 0);
  expect(onUnseen.mock.calls.join()).toContain(isSeen ? '' : 'because of <section>');
});

it('counts an ad that is half visible', async () => {
  ad.style.left = '-90px';
  await watch();
  await expectImpression();
  expect(onViewable.mock.calls[0]?.[0].ratio).toBeCloseTo(0.55, 1);
});

it('restarts the timer if the page is hidden or the video stalls', async () => {
  const watcher = await watch();
  await clock.advance(requiredMs - 1);
  watcher.setPlaying(false);
  await wait();
  expect(onViewable).not.toHaveBeenCalled();
  vi.spyOn(native, 'isHidden').mockReturnValue(true);
  watcher.setPlaying(true);
  await wait();
  expect(onViewable).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  document.dispatchEvent(new Event('visibilitychange'));
  await expectImpression();
});

it('restarts the timer if the device sleeps or the page is frozen', async () => {
  await watch();
  await clock.advance(requiredMs - 1);
  clock.freeze(3_600_000);
  await clock.advance(requiredMs - 1);
  expect(onViewable).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(onViewable.mock.calls[0]?.[0]).toEqual({ ratio: 1, ms: requiredMs });
});
