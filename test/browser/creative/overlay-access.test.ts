import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { requirements, kinds, states, openInState } from './overlay-set.ts';

let shown: Awaited<ReturnType<typeof openInState>>;

afterEach(() => shown.end());

// Tests right-to-left text in Hebrew, because axe does not measure the contrast of Arabic letters.
describe.each(['en', 'he'])('In %s', (locale) => {
  beforeEach(() => page.viewport(640, 480));

  it.each(
    Object.entries(kinds).flatMap(([kind, media]) =>
      Object.entries(states).map(([look, make]) => ({ kind, media, look, make })),
    ),
  )('axe finds no violation in the overlay with $kind $look', async ({ make, media }) => {
    shown = await openInState(media, locale);
    make(shown.opened);
    // Animations end immediately, so that axe never measures the contrast during an animation.
    shown.root?.getAnimations().forEach((animation) => animation.finish());
    // Frames are not checked, because the document in the frame of an HTML creative belongs to the advertiser.
    const { passes, violations } = await axe.run(document, { iframes: false });
    expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain('color-contrast');
  });
});

it.each(['en', 'he'])(
  'axe finds no violation in the overlay of an external ad in “%s”',
  async (locale) => {
    await page.viewport(640, 480);
    shown = await openInState(kinds['video'] as never, locale, { creative: requirements });
    shown.opened.allowClose();
    shown.opened.progress(5_000, 12_000);
    expect(shown.shown('.skip')).toBeDefined();
    shown.root?.getAnimations().forEach((animation) => animation.finish());
    const { violations } = await axe.run(document);
    expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
  },
);

it('axe detects a violation', async () => {
  shown = await openInState(kinds['image'] as never, 'en');
  shown.dialog?.querySelector('button.close')?.removeAttribute('aria-label');
  shown.opened.allowClose();
  shown.dialog?.querySelector('button.close')?.removeAttribute('title');
  const { violations } = await axe.run(document);
  expect(violations.map(({ id }) => id)).toContain('button-name');
});

/** Presses the Tab key until it returns to the first element, and returns all elements that it reached. */
async function findTabStops(): Promise<string[]> {
  const stops: string[] = [];
  for (let count = 0; count < 12; count += 1) {
    await userEvent.tab();
    const active = shown.root?.activeElement;
    const name = active?.ariaLabel ?? active?.textContent ?? '';
    if (active === null || active === undefined || stops.includes(name)) continue;
    stops.push(name);
  }
  return stops;
}

it.each([
  ['with sound', ['Turn sound off', 'Close ad', 'Learn more']],
  ['asking whether to close', ['Keep watching', 'Close anyway']],
  ['on the end card', ['Close ad', 'Learn more']],
])('keyboard focus reaches every control of the overlay %s', async (look, stops) => {
  const outside = Object.assign(document.createElement('button'), { textContent: 'outside' });
  shown = await openInState(kinds['image'] as never, 'en');
  document.body.append(outside);
  states[look]?.(shown.opened);
  expect((await findTabStops()).filter((name) => name !== '').sort()).toEqual(stops.sort());
});

it('keyboard focus reaches the controls of an external ad', async () => {
  shown = await openInState(kinds['image'] as never, 'en', { creative: requirements });
  shown.opened.allowClose();
  shown.opened.progress(5_000, 12_000);
  const stops = await findTabStops();
  expect(stops.filter((name) => name !== '').sort()).toEqual(['Close ad', 'Learn more', 'Skip ad']);
  // The link's accessible name is the alternative text of the image.
  const icon = shown.shown('.icon a') as HTMLElement;
  icon.focus();
  expect(shown.root?.activeElement).toBe(icon);
  expect(icon.querySelector('img')?.alt).toBe('AdChoices');
});

it('the Tab key wraps around in both directions', async () => {
  shown = await openInState(kinds['image'] as never, 'en');
  shown.opened.setClosePrompt(true);
  const at = () => shown.root?.activeElement?.textContent;
  expect(at()).toBe('Keep watching');
  await userEvent.tab();
  expect(at()).toBe('Close anyway');
  await userEvent.tab();
  expect(at()).toBe('Keep watching');
  await userEvent.keyboard('{Shift>}{Tab}{/Shift}');
  expect(at()).toBe('Close anyway');
});

it('the Tab key moves from the controls into an HTML creative', async () => {
  shown = await openInState(kinds['html'] as never, 'en', { creative: { click_url: '' } });
  shown.opened.allowClose();
  await userEvent.tab();
  expect(shown.root?.activeElement?.ariaLabel).toBe('Close ad');
  await userEvent.tab();
  expect(document.activeElement).toBe(document.querySelector('iframe'));
});

it('names the advertiser of an external ad for screen readers', async () => {
  shown = await openInState(kinds['image'] as never, 'en', { creative: requirements });
  expect(shown.dialog?.ariaLabel).toBe(
    'Advertisement: Meadow Games: Watch to get \u206850\u00a0coins\u2069',
  );
});

it('announces prompts and the earned reward to screen readers', async () => {
  shown = await openInState(kinds['image'] as never, 'en');
  const { dialog, opened, root } = shown;
  expect(dialog?.ariaLabel).toBe('Advertisement: Watch to get \u206850\u00a0coins\u2069');
  opened.setTapPrompt(true);
  expect(root?.querySelector('[role=status]')?.textContent).toBe('Tap to play');
  opened.setWatched();
  expect(root?.querySelector('[role=status]')?.textContent).toBe('Your reward is on its way');
});
