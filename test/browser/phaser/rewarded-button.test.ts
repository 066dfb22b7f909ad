import type * as Phaser from 'phaser';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import type { ShowResult } from '../../../src/outcome.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import { freshKey, picture, stubService, type StubService } from '../../support/stub-service.ts';
import { bootGame, nextStep, phaserVersions, type RunningGame } from './phaser-games.ts';
import { eventually } from '../../support/eventually.ts';

describe.each(phaserVersions)('The button in Phaser $version', ({ load }) => {
  let library: typeof Phaser;
  let running: RunningGame;
  let service: StubService;
  let results: ShowResult[];

  beforeAll(async () => {
    library = await load();
  });

  beforeEach(async () => {
    document.body.replaceChildren();
    service = stubService();
    results = [];
    // Smoothed, the time of a scene goes slower than the clock at a few frames a second.
    running = await bootGame(library, { fps: { smoothStep: false } });
    start(running);
  });

  const start = ({ game }: RunningGame, locale = 'en') =>
    TruewardPlugin.install(game, {
      publishableKey: freshKey(),
      serviceUrl: 'https://ads.test',
      fetch: service.fetch,
      locale,
    });

  afterEach(() => running.end());

  const add = () =>
    running.scene.ads.addRewardedButton(running.scene, {
      placement: 'revive',
      x: 100,
      y: 60,
      onResult: (result) => results.push(result),
    });
  const element = () => running.game.canvas.querySelector('button');
  const says = (text: string | RegExp) =>
    eventually(() => expect(element()?.textContent).toMatch(text));
  const drawnText = (button: Phaser.GameObjects.Container) =>
    (button.list[1] as Phaser.GameObjects.Text).text;

  it('loads an ad by itself, and is ready then', async () => {
    const button = add();
    expect(element()?.textContent).toBe('Loading …');
    expect(element()?.ariaDisabled).toBe('true');
    await says('Watch an ad');
    expect(element()?.ariaDisabled).toBe('false');
    expect(drawnText(button)).toBe('Watch an ad');
    expect(service.asked).toEqual(['revive']);
  });

  it('shows the ad when it is clicked, tells the result, and loads the next', async () => {
    add();
    await says('Watch an ad');
    await nextStep(running.game);
    await userEvent.click(running.game.canvas);
    await eventually(() => expect(results).toHaveLength(1));
    expect(results[0]?.outcome).toBe('rewarded');
    await says('Watch an ad');
    expect(service.asked).toEqual(['revive', 'revive']);
  });

  it.each(['{Enter}', ' '])(
    'shows the ad with the key “%s”, which the game does not hear',
    async (key) => {
      let heard = 0;
      running.scene.input.keyboard?.createCursorKeys();
      add();
      await says('Watch an ad');
      await userEvent.tab();
      expect(document.activeElement).toBe(element());
      running.scene.input.keyboard?.on('keydown', () => (heard += 1));
      await userEvent.keyboard(key);
      expect(heard).toBe(0);
      await eventually(() => expect(results[0]?.outcome).toBe('rewarded'));
      expect(document.activeElement).toBe(element());
    },
  );

  it('offers no ad once the plugin is stopped', async () => {
    add();
    await says('Watch an ad');
    running.scene.ads.stop();
    expect(element()?.textContent).toBe('No ad now');
    expect(element()?.ariaDisabled).toBe('true');
  });

  it('shows a ring while the keyboard is on it', async () => {
    const button = add();
    const box = button.list[0] as Phaser.GameObjects.Rectangle;
    element()?.focus();
    expect(box.isStroked).toBe(true);
    element()?.blur();
    expect(box.isStroked).toBe(false);
  });

  it('counts a cooldown down, and loads the next ad when it is over', async () => {
    const retryAt = new Date(Date.now() + 2500).toISOString();
    service.answer = () => ({ status: 'blocked', reason: 'cooldown', retry_at: retryAt });
    add();
    const texts: (string | null)[] = [];
    const observer = new MutationObserver(() => texts.push(element()?.textContent ?? null));
    observer.observe(element() as Element, { childList: true });
    await says(/^Next ad in 0:0[23]$/);
    service.answer = () => picture(200);
    element()?.click();
    expect(results).toEqual([]);
    await says('Watch an ad');
    observer.disconnect();
    expect(texts).toContain('Next ad in 0:01');
    expect(results).toEqual([]);
    expect(service.asked).toEqual(['revive', 'revive']);
  });

  it('loads the next ad at once when the scene slept until the cooldown was over', async () => {
    const retryAt = Date.now() + 1500;
    const blocked = { status: 'blocked', reason: 'cooldown' } as const;
    service.answer = () => ({ ...blocked, retry_at: new Date(retryAt).toISOString() });
    add();
    await says(/^Next ad in 0:0[12]$/);
    service.answer = () => picture(200);
    running.scene.scene.pause();
    await eventually(() => expect(Date.now()).toBeGreaterThan(retryAt));
    running.scene.scene.resume();
    await says('Watch an ad');
  });

  it('says that there is none', async () => {
    service.answer = () => ({ status: 'no_fill', reason: 'no_candidates' });
    const button = add();
    await says('No ad now');
    expect(drawnText(button)).toBe('No ad now');
  });

  it('leaves two of one placement at rest', async () => {
    service.answer = () => new Response('', { status: 503 });
    add();
    add();
    await says('No ad now');
    const asked = service.asked.length;
    for (let step = 0; step < 5; step += 1) await nextStep(running.game);
    expect(service.asked).toHaveLength(asked);
  });

  it.each([
    ['de-AT', 'Gerade keine Werbung', 'ltr', 'Gerade keine Werbung'],
    ['ar', 'لا يوجد إعلان الآن', 'rtl', '\u2067لا يوجد إعلان الآن\u2069'],
  ])(
    'says its texts in %s as soon as they have been loaded',
    async (locale, text, direction, drawn) => {
      service.answer = () => ({ status: 'no_fill', reason: 'no_candidates' });
      await running.end();
      running = await bootGame(library);
      start(running, locale);
      const button = add();
      expect(drawnText(button)).toBe('Loading …');
      await says(text);
      expect(drawnText(button)).toBe(drawn);
      const shown = element() as HTMLElement;
      expect([shown.lang, getComputedStyle(shown).direction]).toEqual([
        locale.slice(0, 2),
        direction,
      ]);
    },
  );

  it('says its texts in the words of the game', async () => {
    running.scene.ads.addRewardedButton(running.scene, {
      placement: 'revive',
      x: 100,
      y: 60,
      label: ({ state }) => (state === 'ready' ? 'Weiterleben' : '…'),
    });
    await says('Weiterleben');
  });

  it('is gone with its scene, and comes again with it', async () => {
    const { scene } = running;
    const listeners = () => running.game.canvas.querySelectorAll('button').length;
    add();
    await says('Watch an ad');
    scene.scene.restart();
    await eventually(() => expect(listeners()).toBe(0));
    add();
    await says('Watch an ad');
    expect(listeners()).toBe(1);
  });

  it('ends its ad when it is destroyed meanwhile', async () => {
    service.answer = () => picture(60_000);
    const button = add();
    const closed = new Promise<ShowResult>((resolve) => {
      running.scene.ads.on('result', (_placement, result) => resolve(result));
    });
    const started = new Promise<void>((resolve) => running.scene.ads.on('start', () => resolve()));
    await says('Watch an ad');
    element()?.click();
    await started;
    button.destroy();
    expect((await closed).outcome).toBe('aborted');
    expect(results).toEqual([]);
  });
});
