import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cdp, page, server } from 'vitest/browser';
import { eventually } from '../../support/eventually.ts';
import { requirements, kinds, languages, states, openInState } from './overlay-set.ts';

const image = kinds['image'] as never;
let shown: Awaited<ReturnType<typeof openInState>>;

afterEach(() => shown.end());

/** Lists the labels that a player could not read and the controls that a player could not reach. */
function findFlaws(): string[] {
  const problems: string[] = [];
  const visible = [...(shown.dialog?.querySelectorAll<HTMLElement>('*') ?? [])].filter((element) =>
    element.checkVisibility({ visibilityProperty: true }),
  );
  for (const element of visible) {
    if (element.closest('.live')) continue;
    const { bottom, height, left, right, top, width } = element.getBoundingClientRect();
    const name = `${element.tagName} ${element.className} “${element.textContent}”`;
    if (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight)
      problems.push(`${name} is off the screen`);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
      problems.push(`${name} is too small for its text`);
    if (element.matches('button, a') && (width < 44 || height < 44))
      problems.push(`${name} is too small for a thumb`);
  }
  return problems;
}

/** Returns whether a touch in the middle of the control hits the control. */
function canBeHit(selector: string): boolean {
  const control = shown.shown(selector);
  if (control === undefined) return false;
  const { height, left, top, width } = control.getBoundingClientRect();
  const hit = shown.root?.elementFromPoint(left + width / 2, top + height / 2) ?? null;
  return control.contains(hit);
}

describe.each([
  [320, 568],
  [568, 320],
  [320, 256],
  [240, 160],
])('On a screen of %i × %i', (width, height) => {
  beforeEach(() => page.viewport(width, height));

  it.each(languages)(
    'every text in “%s” fits and every control can be clicked',
    async (language) => {
      for (const [look, enterState] of Object.entries(states)) {
        shown = await openInState(image, language, {
          creative: { alt: 'Meadow, a quiet game about sheep and the wind' },
          reward: { type: 'legendary dragon scales', amount: 12_500 },
        });
        enterState(shown.opened);
        shown.root?.getAnimations().forEach((animation) => animation.finish());
        expect(findFlaws(), look).toEqual([]);
        if (look === 'on the end card') expect(canBeHit('.end button'), look).toBe(true);
        if (look === 'asking whether to close')
          expect(canBeHit('.ask button:last-child'), look).toBe(true);
        else if (look !== 'at first') expect(canBeHit('button.close'), look).toBe(true);
        shown.end();
      }
    },
  );
});

describe.each([
  [1280, 720],
  [320, 568],
  [568, 320],
  [320, 256],
  [240, 160],
])('An external ad on a screen of %i × %i', (width, height) => {
  beforeEach(() => page.viewport(width, height));

  it.each(languages)('every control in “%s” fits and can be clicked', async (language) => {
    for (const x of ['left', 'right'] as const)
      for (const y of ['top', 'bottom'] as const) {
        const at = `the icon at the ${y} ${x}`;
        shown = await openInState(image, language, {
          creative: { ...requirements, icon: { ...requirements.icon, x, y } },
        });
        const { opened, root } = shown;
        await root?.querySelector<HTMLImageElement>('.icon img')?.decode();
        opened.progress(4_999, 12_000);
        expect(shown.shown('.skip'), at).toBeUndefined();
        opened.allowClose();
        opened.setMuted(true);
        opened.progress(5_000, 12_000);
        root?.getAnimations().forEach((animation) => animation.finish());
        expect(findFlaws(), at).toEqual([]);
        for (const control of ['.skip', '.icon a', 'footer a', 'button.mute', 'button.close'])
          expect(canBeHit(control), `${control}, ${at}`).toBe(true);
        opened.setTapPrompt(true);
        expect(canBeHit('.play'), at).toBe(true);
        opened.showEndCard();
        expect(shown.shown('.skip') ?? shown.shown('.icon'), at).toBeUndefined();
        shown.end();
      }
  });
});

it.each([
  ['left', 'top'],
  ['right', 'bottom'],
  [undefined, undefined],
] as const)('shows the icon of an external ad at the %s %s', async (x, y) => {
  await page.viewport(640, 360);
  shown = await openInState(image, 'en', {
    creative: { ...requirements, icon: { ...requirements.icon, ...(x && { x }), ...(y && { y }) } },
  });
  const icon = shown.shown('.icon img') as HTMLImageElement;
  await icon.decode();
  const at = icon.getBoundingClientRect();
  const stage = shown.shown('.stage')?.getBoundingClientRect() ?? new DOMRect();
  expect([at.width, at.height]).toEqual([77, 15]);
  expect(at.left).toBe(x === 'left' ? stage.left : stage.right - 77);
  expect(at.top).toBe(y === 'bottom' ? stage.bottom - 15 : stage.top);
});

it('a large icon does not cover the ad', async () => {
  await page.viewport(640, 360);
  const huge = { ...requirements.icon, width: 5_000, height: 5_000 };
  shown = await openInState(image, 'en', { creative: { ...requirements, icon: huge } });
  await (shown.shown('.icon img') as HTMLImageElement).decode();
  const icon = shown.shown('.icon')?.getBoundingClientRect() ?? new DOMRect();
  const stage = shown.shown('.stage')?.getBoundingClientRect() ?? new DOMRect();
  expect(icon.width * icon.height).toBeLessThan((stage.width * stage.height) / 10);
});

it('in a tiny frame, most of the space is left for the ad', async () => {
  await page.viewport(240, 160);
  shown = await openInState(image, 'en');
  shown.opened.allowClose();
  shown.opened.setMuted(true);
  const { height } = document.querySelector('img')?.getBoundingClientRect() ?? new DOMRect();
  expect(height).toBeGreaterThan(90);
});

it.each([
  ['asking whether to close', ['.ask .main', '.ask button:last-child']],
  ['on the end card', ['.end a', '.end button', 'button.close']],
  ['with sound', ['button.mute', 'button.close', 'footer a']],
] as const)(
  'every control %s is reachable on a 320 px screen with text at twice its size',
  async (look, selectors) => {
    await page.viewport(320, 568);
    shown = await openInState(image, 'de');
    shown.dialog?.style.setProperty('--unit', '28px');
    states[look]?.(shown.opened);
    shown.root?.getAnimations().forEach((animation) => animation.finish());
    for (const selector of selectors) {
      // The Tab key scrolls the focused control into view, in WebKit after a short delay.
      shown.shown(selector)?.focus();
      await expect.poll(() => canBeHit(selector), { message: selector }).toBe(true);
    }
  },
);

// Only Chromium can emulate this from a page.
it.runIf(server.browser === 'chromium')(
  'draws a border around every control in forced-colors mode',
  async () => {
    const force = (value: string) =>
      cdp().send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] });
    await force('active');
    shown = await openInState(image, 'en');
    shown.opened.allowClose();
    shown.opened.setClosePrompt(true);
    for (const control of shown.dialog?.querySelectorAll('button, a') ?? [])
      expect(getComputedStyle(control).borderTopStyle).toBe('solid');
    await force('');
  },
);

it.each([
  [1280, 720],
  [3840, 2160],
])('text is larger and the ad fills the screen on a %i × %i screen', async (width, height) => {
  await page.viewport(width, height);
  shown = await openInState(image, 'en');
  shown.opened.allowClose();
  expect(findFlaws()).toEqual([]);
  const { height: control } = shown.shown('button.close')?.getBoundingClientRect() ?? new DOMRect();
  expect(control).toBeGreaterThanOrEqual(height / 30);
  const { height: picture } =
    document.querySelector('img')?.getBoundingClientRect() ?? new DOMRect();
  expect(picture).toBeGreaterThan(height * 0.7);
});

it('updates the layout when the screen is rotated', async () => {
  const cardPadding = async () => {
    const card = shown.shown('.end .card') as Element;
    await eventually(() => expect(findFlaws()).toEqual([]));
    return parseFloat(getComputedStyle(card).paddingTop);
  };
  const open = async () => {
    shown = await openInState(image, 'de');
    shown.opened.showEndCard();
  };
  await page.viewport(568, 320);
  await open();
  const landscapePadding = await cardPadding();
  await page.viewport(320, 568);
  const portraitPadding = await cardPadding();
  expect(portraitPadding).toBeGreaterThan(landscapePadding);
  shown.end();
  await page.viewport(568, 320);
  await open();
  expect(await cardPadding()).toBe(landscapePadding);
  shown.end();
  await page.viewport(320, 568);
  await open();
  expect(await cardPadding()).toBe(portraitPadding);
});

it('stays inside the safe area of a screen with a notch', async () => {
  await page.viewport(640, 360);
  shown = await openInState(image, 'en');
  const sheet = shown.root?.adoptedStyleSheets[0];
  const rule = [...(sheet?.cssRules ?? [])].find((candidate) =>
    candidate.cssText.startsWith('dialog {'),
  );
  for (const side of ['top', 'right', 'bottom', 'left'])
    expect(rule?.cssText).toContain(`env(safe-area-inset-${side})`);
});

it('uses the colors and font of the game', async () => {
  await page.viewport(640, 360);
  const { style } = document.documentElement;
  style.setProperty('--trueward-accent', 'rgb(1, 2, 3)');
  style.setProperty('--trueward-on-accent', 'rgb(250, 251, 252)');
  style.setProperty('--trueward-background', 'rgb(4, 5, 6)');
  style.setProperty('--trueward-text', 'rgb(7, 8, 9)');
  style.setProperty('--trueward-font', 'monospace');
  shown = await openInState(image, 'en');
  shown.opened.setClosePrompt(true);
  const { backgroundColor, color, fontFamily } = getComputedStyle(shown.dialog as Element);
  expect([backgroundColor, color, fontFamily]).toEqual([
    'rgb(4, 5, 6)',
    'rgb(7, 8, 9)',
    'monospace',
  ]);
  const main = getComputedStyle(shown.shown('.ask .main') as Element);
  expect([main.backgroundColor, main.color]).toEqual(['rgb(1, 2, 3)', 'rgb(250, 251, 252)']);
  style.cssText = '';
});

// Only Chromium can emulate this from a page.
it.runIf(server.browser === 'chromium')(
  'animates nothing if the player prefers reduced motion',
  async () => {
    const still = (value: string) =>
      cdp().send('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-reduced-motion', value }],
      });
    shown = await openInState(image, 'en');
    expect(shown.root?.getAnimations().length).toBeGreaterThan(0);
    shown.end();
    await still('reduce');
    shown = await openInState(image, 'en');
    shown.opened.setClosePrompt(true);
    expect(shown.root?.getAnimations()).toEqual([]);
    expect(getComputedStyle(shown.dialog?.querySelector('progress') as Element).animationName).toBe(
      'none',
    );
    await still('');
  },
);
