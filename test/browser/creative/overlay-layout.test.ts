import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cdp, page, server } from 'vitest/browser';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { requirements, kinds, languages, states, openInState } from './overlay-set.ts';

const image = kinds['image'] as never;
let fixture: Awaited<ReturnType<typeof openInState>>;

afterEach(() => fixture.end());

/** Lists elements that are off the screen or too small for their text, and controls that are too small to tap. */
function findFlaws(): string[] {
  const problems: string[] = [];
  const visible = [...(fixture.dialog?.querySelectorAll<HTMLElement>('*') ?? [])].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }),
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
      problems.push(`${name} is too small to tap`);
  }
  return problems;
}

/** Returns whether a tap at the center of the control hits it. */
function canBeHit(selector: string): boolean {
  const control = fixture.findVisible(selector);
  if (control === undefined) return false;
  const { height, left, top, width } = control.getBoundingClientRect();
  const hit = fixture.root?.elementFromPoint(left + width / 2, top + height / 2) ?? null;
  return control.contains(hit);
}

describe.each([
  [320, 568],
  [568, 320],
  [320, 256],
  [240, 160],
])('On a %i × %i screen', (width, height) => {
  beforeEach(() => page.viewport(width, height));

  it.each(rowsForRun(languages, 3))(
    'each label in “%s” fits and every control can be clicked',
    async (language) => {
      for (const [state, enterState] of Object.entries(states)) {
        fixture = await openInState(image, language, {
          creative: { alt: 'Meadow, a quiet game about sheep and the wind' },
          reward: { type: 'legendary dragon scales', amount: 12_500 },
        });
        enterState(fixture.overlay);
        fixture.root?.getAnimations().forEach((animation) => animation.finish());
        expect(findFlaws(), state).toEqual([]);
        if (state === 'on the end card') expect(canBeHit('.end button'), state).toBe(true);
        if (state === 'asking whether to close')
          expect(canBeHit('.ask button:last-child'), state).toBe(true);
        else if (state !== 'at first') expect(canBeHit('button.close'), state).toBe(true);
        fixture.end();
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
])('An external ad on a %i × %i screen', (width, height) => {
  beforeEach(() => page.viewport(width, height));

  it.each(rowsForRun(languages, 3))(
    'every control in “%s” fits and can be clicked',
    async (language) => {
      for (const x of ['left', 'right'] as const)
        for (const y of ['top', 'bottom'] as const) {
          const at = `the icon at the ${y} ${x}`;
          fixture = await openInState(image, language, {
            creative: { ...requirements, icon: { ...requirements.icon, x, y } },
          });
          const { overlay, root } = fixture;
          await root?.querySelector<HTMLImageElement>('.icon img')?.decode();
          overlay.progress(4_999, 12_000);
          expect(fixture.findVisible('.skip'), at).toBeUndefined();
          overlay.allowClose();
          overlay.setMuted(true);
          overlay.progress(5_000, 12_000);
          root?.getAnimations().forEach((animation) => animation.finish());
          expect(findFlaws(), at).toEqual([]);
          for (const control of ['.skip', '.icon a', 'footer a', 'button.mute', 'button.close'])
            expect(canBeHit(control), `${control}, ${at}`).toBe(true);
          overlay.setTapPrompt(true);
          expect(canBeHit('.play'), at).toBe(true);
          overlay.showEndCard();
          expect(fixture.findVisible('.skip') ?? fixture.findVisible('.icon'), at).toBeUndefined();
          fixture.end();
        }
    },
  );
});

it.each([
  ['left', 'top'],
  ['right', 'bottom'],
  [undefined, undefined],
] as const)('shows an external ad’s icon at the %s %s', async (x, y) => {
  await page.viewport(640, 360);
  fixture = await openInState(image, 'en', {
    creative: { ...requirements, icon: { ...requirements.icon, ...(x && { x }), ...(y && { y }) } },
  });
  const icon = fixture.findVisible('.icon img') as HTMLImageElement;
  await icon.decode();
  const at = icon.getBoundingClientRect();
  const stage = fixture.findVisible('.stage')?.getBoundingClientRect() ?? new DOMRect();
  expect([at.width, at.height]).toEqual([77, 15]);
  expect(at.left).toBe(x === 'left' ? stage.left : stage.right - 77);
  expect(at.top).toBe(y === 'bottom' ? stage.bottom - 15 : stage.top);
});

it('a large icon does not cover the ad', async () => {
  await page.viewport(640, 360);
  const huge = { ...requirements.icon, width: 5_000, height: 5_000 };
  fixture = await openInState(image, 'en', { creative: { ...requirements, icon: huge } });
  await (fixture.findVisible('.icon img') as HTMLImageElement).decode();
  const icon = fixture.findVisible('.icon')?.getBoundingClientRect() ?? new DOMRect();
  const stage = fixture.findVisible('.stage')?.getBoundingClientRect() ?? new DOMRect();
  expect(icon.width * icon.height).toBeLessThan((stage.width * stage.height) / 10);
});

it('in a tiny frame, the controls leave most of the space for the ad', async () => {
  await page.viewport(240, 160);
  fixture = await openInState(image, 'en');
  fixture.overlay.allowClose();
  fixture.overlay.setMuted(true);
  const { height } = document.querySelector('img')?.getBoundingClientRect() ?? new DOMRect();
  expect(height).toBeGreaterThan(90);
});

it.each([
  ['asking whether to close', ['.ask .main', '.ask button:last-child']],
  ['on the end card', ['.end a', '.end button', 'button.close']],
  ['with sound', ['button.mute', 'button.close', 'footer a']],
] as const)(
  'every control %s is reachable on a 320 px screen with text at 200%',
  async (state, selectors) => {
    await page.viewport(320, 568);
    fixture = await openInState(image, 'de');
    fixture.dialog?.style.setProperty('--trueward-ui-unit', '28px');
    states[state]?.(fixture.overlay);
    fixture.root?.getAnimations().forEach((animation) => animation.finish());
    for (const selector of selectors) {
      // Moving focus to a control scrolls it into view. In WebKit, this happens after a short delay.
      fixture.findVisible(selector)?.focus();
      await expect.poll(() => canBeHit(selector), { message: selector }).toBe(true);
    }
  },
);

// Only Chromium can emulate forced colors from a page.
it.runIf(server.browser === 'chromium')(
  'draws a border around every control in forced-colors mode',
  async () => {
    const setForcedColors = (value: string) =>
      cdp().send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] });
    await setForcedColors('active');
    fixture = await openInState(image, 'en');
    fixture.overlay.allowClose();
    fixture.overlay.setClosePrompt(true);
    for (const control of fixture.dialog?.querySelectorAll('button, a') ?? [])
      expect(getComputedStyle(control).borderTopStyle).toBe('solid');
    await setForcedColors('');
  },
);

it.each([
  [1280, 720],
  [3840, 2160],
])('text is larger and the ad fills the screen on a %i × %i screen', async (width, height) => {
  await page.viewport(width, height);
  fixture = await openInState(image, 'en');
  fixture.overlay.allowClose();
  expect(findFlaws()).toEqual([]);
  const { height: control } =
    fixture.findVisible('button.close')?.getBoundingClientRect() ?? new DOMRect();
  expect(control).toBeGreaterThanOrEqual(height / 30);
  const { height: picture } =
    document.querySelector('img')?.getBoundingClientRect() ?? new DOMRect();
  expect(picture).toBeGreaterThan(height * 0.7);
});

it('updates the layout when the screen is rotated', async () => {
  const cardPadding = async () => {
    const card = fixture.findVisible('.end .card') as Element;
    await eventually(() => expect(findFlaws()).toEqual([]));
    return parseFloat(getComputedStyle(card).paddingTop);
  };
  const open = async () => {
    fixture = await openInState(image, 'de');
    fixture.overlay.showEndCard();
  };
  await page.viewport(568, 320);
  await open();
  const landscapePadding = await cardPadding();
  await page.viewport(320, 568);
  const portraitPadding = await cardPadding();
  expect(portraitPadding).toBeGreaterThan(landscapePadding);
  fixture.end();
  await page.viewport(568, 320);
  await open();
  expect(await cardPadding()).toBe(landscapePadding);
  fixture.end();
  await page.viewport(320, 568);
  await open();
  expect(await cardPadding()).toBe(portraitPadding);
});

it('stays inside the safe area on a screen with a notch', async () => {
  await page.viewport(640, 360);
  fixture = await openInState(image, 'en');
  const sheet = fixture.root?.adoptedStyleSheets[0];
  const rule = [...(sheet?.cssRules ?? [])].find((candidate) =>
    candidate.cssText.startsWith('dialog {'),
  );
  for (const side of ['top', 'right', 'bottom', 'left'])
    expect(rule?.cssText).toContain(`env(safe-area-inset-${side})`);
});

it('uses the game’s colors and font', async () => {
  await page.viewport(640, 360);
  const { style } = document.documentElement;
  style.setProperty('--trueward-accent', 'rgb(1, 2, 3)');
  style.setProperty('--trueward-on-accent', 'rgb(250, 251, 252)');
  style.setProperty('--trueward-background', 'rgb(4, 5, 6)');
  style.setProperty('--trueward-text', 'rgb(7, 8, 9)');
  style.setProperty('--trueward-font', 'monospace');
  fixture = await openInState(image, 'en');
  fixture.overlay.setClosePrompt(true);
  const { backgroundColor, color, fontFamily } = getComputedStyle(fixture.dialog as Element);
  expect([backgroundColor, color, fontFamily]).toEqual([
    'rgb(4, 5, 6)',
    'rgb(7, 8, 9)',
    'monospace',
  ]);
  const main = getComputedStyle(fixture.findVisible('.ask .main') as Element);
  expect([main.backgroundColor, main.color]).toEqual(['rgb(1, 2, 3)', 'rgb(250, 251, 252)']);
  style.cssText = '';
});

// Only Chromium can emulate reduced motion from a page.
it.runIf(server.browser === 'chromium')(
  'plays no animations if the player prefers reduced motion',
  async () => {
    const setReducedMotion = (value: string) =>
      cdp().send('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-reduced-motion', value }],
      });
    fixture = await openInState(image, 'en');
    expect(fixture.root?.getAnimations().length).toBeGreaterThan(0);
    fixture.end();
    await setReducedMotion('reduce');
    fixture = await openInState(image, 'en');
    fixture.overlay.setClosePrompt(true);
    expect(fixture.root?.getAnimations()).toEqual([]);
    expect(
      getComputedStyle(fixture.dialog?.querySelector('progress') as Element).animationName,
    ).toBe('none');
    await setReducedMotion('');
  },
);
