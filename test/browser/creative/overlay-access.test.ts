import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { requirements, kinds, states, openInState } from './overlay-set.ts';

let fixture: Awaited<ReturnType<typeof openInState>>;

afterEach(() => fixture.end());

// Tests right-to-left text in Hebrew, because axe does not measure the contrast of Arabic script.
describe.each(['en', 'he'])('In %s', (locale) => {
  beforeEach(() => page.viewport(640, 480));

  it.each(
    Object.entries(kinds).flatMap(([kind, media]) =>
      Object.entries(states).map(([state, enterState]) => ({ kind, media, state, enterState })),
    ),
  )('axe finds no violations in the overlay with $kind $state', async ({ enterState, media }) => {
    fixture = await openInState(media, locale);
    enterState(fixture.overlay);
    // Animations end immediately, so that axe never measures the contrast during an animation.
    fixture.root?.getAnimations().forEach((animation) => animation.finish());
    // Frames are not checked, because the document in an HTML creative's frame belongs to the advertiser.
    const { passes, violations } = await axe.run(document, { iframes: false });
    expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain('color-contrast');
  });
});

it.each(['en', 'he'])(
  'axe finds no violations in an external ad’s overlay in “%s”',
  async (locale) => {
    await page.viewport(640, 480);
    fixture = await openInState(kinds['video'] as never, locale, { creative: requirements });
    fixture.overlay.allowClose();
    fixture.overlay.progress(5_000, 12_000);
    expect(fixture.findVisible('.skip')).toBeDefined();
    fixture.root?.getAnimations().forEach((animation) => animation.finish());
    const { violations } = await axe.run(document);
    expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
  },
);

it('axe detects a violation', async () => {
  fixture = await openInState(kinds['image'] as never, 'en');
  fixture.dialog?.querySelector('button.close')?.removeAttribute('aria-label');
  fixture.overlay.allowClose();
  fixture.dialog?.querySelector('button.close')?.removeAttribute('title');
  const { violations } = await axe.run(document);
  expect(violations.map(({ id }) => id)).toContain('button-name');
});

/** Presses the Tab key repeatedly and returns the names of all elements that receive focus. */
async function findTabStops(): Promise<string[]> {
  const stops: string[] = [];
  for (let count = 0; count < 12; count += 1) {
    await userEvent.tab();
    const active = fixture.root?.activeElement;
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
])('keyboard focus reaches every control in the overlay %s', async (state, stops) => {
  const outside = Object.assign(document.createElement('button'), { textContent: 'outside' });
  fixture = await openInState(kinds['image'] as never, 'en');
  document.body.append(outside);
  states[state]?.(fixture.overlay);
  expect((await findTabStops()).filter((name) => name !== '').sort()).toEqual(stops.sort());
});

it('the progress bar shows how much of the required time has been watched', async () => {
  fixture = await openInState(kinds['video'] as never, 'en');
  const bar = fixture.root?.querySelector('progress');
  const shown = [0, 3_000, 6_000, 12_000, 13_000].map((watchedMs) => {
    fixture.overlay.progress(watchedMs, 12_000);
    return bar?.value;
  });
  expect(shown).toEqual([0, 0.25, 0.5, 1, 1]);
});

it('keyboard focus reaches an external ad’s controls', async () => {
  fixture = await openInState(kinds['image'] as never, 'en', { creative: requirements });
  fixture.overlay.allowClose();
  fixture.overlay.progress(5_000, 12_000);
  const stops = await findTabStops();
  expect(stops.filter((name) => name !== '').sort()).toEqual(['Close ad', 'Learn more', 'Skip ad']);
  // The link's accessible name is the image's alt text.
  const icon = fixture.findVisible('.icon a') as HTMLElement;
  icon.focus();
  expect(fixture.root?.activeElement).toBe(icon);
  expect(icon.querySelector('img')?.alt).toBe('AdChoices');
});

it('the Tab key wraps around in both directions', async () => {
  fixture = await openInState(kinds['image'] as never, 'en');
  fixture.overlay.setClosePrompt(true);
  const focusedText = () => fixture.root?.activeElement?.textContent;
  expect(focusedText()).toBe('Keep watching');
  await userEvent.tab();
  expect(focusedText()).toBe('Close anyway');
  await userEvent.tab();
  expect(focusedText()).toBe('Keep watching');
  await userEvent.keyboard('{Shift>}{Tab}{/Shift}');
  expect(focusedText()).toBe('Close anyway');
});

it('the Tab key moves focus from the controls into an HTML creative', async () => {
  fixture = await openInState(kinds['html'] as never, 'en', { creative: { click_url: '' } });
  fixture.overlay.allowClose();
  await userEvent.tab();
  expect(fixture.root?.activeElement?.ariaLabel).toBe('Close ad');
  await userEvent.tab();
  expect(document.activeElement).toBe(document.querySelector('iframe'));
});

it('lets an HTML creative run scripts and play sound, and nothing else', async () => {
  fixture = await openInState(kinds['html'] as never, 'en');
  const frame = document.querySelector('iframe')?.contentDocument?.querySelector('iframe');
  const attributes = ['sandbox', 'allow', 'referrerpolicy', 'credentialless'];
  expect(attributes.map((name) => frame?.getAttribute(name))).toEqual([
    'allow-scripts',
    'autoplay',
    'no-referrer',
    '',
  ]);
});

it('names an external ad’s advertiser for screen readers', async () => {
  fixture = await openInState(kinds['image'] as never, 'en', { creative: requirements });
  expect(fixture.dialog?.ariaLabel).toBe(
    'Advertisement: Meadow Games: Watch to get \u206850\u00a0coins\u2069',
  );
});

it('announces prompts and the earned reward to screen readers', async () => {
  fixture = await openInState(kinds['image'] as never, 'en');
  const { dialog, overlay, root } = fixture;
  expect(dialog?.ariaLabel).toBe('Advertisement: Watch to get \u206850\u00a0coins\u2069');
  overlay.setTapPrompt(true);
  expect(root?.querySelector('[role=status]')?.textContent).toBe('Tap to play');
  overlay.setWatched();
  expect(root?.querySelector('[role=status]')?.textContent).toBe('Your reward is on its way');
});
