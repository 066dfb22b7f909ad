import type * as Phaser from 'phaser';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { click } from '../engine/real-input.ts';
import type { ShowResult } from '../../../src/outcome.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import {
  createPublishableKey,
  picture,
  createStubService,
  type StubService,
  readyLabel,
} from '../../support/stub-service.ts';
import { bootGame, nextStep, phaserVersions, type RunningGame } from './phaser-games.ts';
import { eventually } from '../../support/eventually.ts';

describe.each(phaserVersions)('the button in Phaser $version', ({ load }) => {
  let library: typeof Phaser;
  let running: RunningGame;
  let service: StubService;
  let results: ShowResult[];

  beforeAll(async () => {
    library = await load();
  });

  beforeEach(async () => {
    document.body.replaceChildren();
    service = createStubService();
    results = [];
    // At a low frame rate, a scene's smoothed time lags behind real time.
    running = await bootGame(library, { fps: { smoothStep: false } });
    start(running);
  });

  const start = ({ game }: RunningGame, locale = 'en') =>
    TruewardPlugin.install(game, {
      publishableKey: createPublishableKey(),
      serviceUrl: 'https://ads.test',
      fetch: service.fetch,
      locale,
    });

  afterEach(() => running.end());

  const add = () =>
    running.scene.ads.addRewardedButton({
      placement: 'revive',
      x: 100,
      y: 60,
      onResult: (result) => results.push(result),
    });
  const element = () => running.game.canvas.querySelector('button');
  const expectLabel = (text: string | RegExp) =>
    eventually(() => expect(element()?.textContent).toMatch(text));
  const drawnText = (button: Phaser.GameObjects.Container) =>
    (button.list[1] as Phaser.GameObjects.Text).text;

  it('preloads an ad and becomes ready', async () => {
    const button = add();
    expect(element()?.textContent).toBe('Loading…');
    expect(element()?.ariaDisabled).toBe('true');
    await expectLabel(readyLabel);
    expect(element()?.ariaDisabled).toBe('false');
    expect(drawnText(button)).toBe(readyLabel);
    expect(service.requested).toEqual(['revive']);
  });

  it('shows the ad when clicked and then preloads the next ad', async () => {
    add();
    await expectLabel(readyLabel);
    await nextStep(running.game);
    await click(running.game.canvas);
    await eventually(() => expect(results).toHaveLength(1));
    expect(results[0]?.outcome).toBe('rewarded');
    await expectLabel(readyLabel);
    expect(service.requested).toEqual(['revive', 'revive']);
  });

  it.each(['{Enter}', ' '])(
    'shows the ad when “%s” is pressed and hides that key from the game',
    async (key) => {
      let keydowns = 0;
      running.scene.input.keyboard?.createCursorKeys();
      add();
      await expectLabel(readyLabel);
      await userEvent.tab();
      expect(document.activeElement).toBe(element());
      running.scene.input.keyboard?.on('keydown', () => (keydowns += 1));
      await userEvent.keyboard(key);
      expect(keydowns).toBe(0);
      await eventually(() => expect(results[0]?.outcome).toBe('rewarded'));
      expect(document.activeElement).toBe(element());
    },
  );

  it('offers no ad after the plugin is stopped', async () => {
    add();
    await expectLabel(readyLabel);
    running.scene.gameAds.stop();
    expect(element()?.textContent).toBe('No ad available');
    expect(element()?.ariaDisabled).toBe('true');
  });

  it('shows a focus ring while it has keyboard focus', async () => {
    const button = add();
    const box = button.list[0] as Phaser.GameObjects.Rectangle;
    element()?.focus();
    expect(box.isStroked).toBe(true);
    element()?.blur();
    expect(box.isStroked).toBe(false);
  });

  it('counts down a cooldown and preloads the next ad when it ends', async () => {
    const retryAt = new Date(Date.now() + 2500).toISOString();
    service.respond = () => ({ status: 'blocked', reason: 'cooldown', retry_at: retryAt });
    add();
    const labels: (string | null)[] = [];
    const observer = new MutationObserver(() => labels.push(element()?.textContent ?? null));
    observer.observe(element() as Element, { childList: true });
    await expectLabel(/^Next ad in 0:0[23]$/);
    service.respond = () => picture(200);
    element()?.click();
    expect(results).toEqual([]);
    await expectLabel(readyLabel);
    observer.disconnect();
    expect(labels).toContain('Next ad in 0:01');
    expect(results).toEqual([]);
    expect(service.requested).toEqual(['revive', 'revive']);
  });

  it('preloads the next ad on waking if the cooldown ended while the scene slept', async () => {
    const retryAt = Date.now() + 1500;
    const blockedDecision = { status: 'blocked', reason: 'cooldown' } as const;
    service.respond = () => ({ ...blockedDecision, retry_at: new Date(retryAt).toISOString() });
    add();
    await expectLabel(/^Next ad in 0:0[12]$/);
    service.respond = () => picture(200);
    running.scene.scene.pause();
    await eventually(() => expect(Date.now()).toBeGreaterThan(retryAt));
    running.scene.scene.resume();
    await expectLabel(readyLabel);
  });

  it('shows that no ad is available', async () => {
    service.respond = () => ({ status: 'no_fill', reason: 'no_candidates' });
    const button = add();
    await expectLabel('No ad available');
    expect(drawnText(button)).toBe('No ad available');
  });

  it('follows the player’s consent and the network at once', async () => {
    service.respond = ({ consent }) =>
      consent?.status === 'granted'
        ? picture(200)
        : { status: 'blocked', reason: 'consent_required' };
    add();
    await expectLabel('No ad available');
    running.scene.ads.setConsent({ status: 'granted' });
    await expectLabel(readyLabel);
    service.respond = () => Response.error();
    running.scene.ads.setConsent({ status: 'denied' });
    add();
    await expectLabel('No ad available');
    service.respond = () => picture(200);
    const requests = service.requested.length;
    dispatchEvent(new Event('online'));
    await expectLabel(readyLabel);
    expect(service.requested).toHaveLength(requests + 1);
  });

  it('two buttons for the same placement do not trigger each other’s requests', async () => {
    service.respond = () => new Response('', { status: 503 });
    add();
    add();
    await expectLabel('No ad available');
    const requests = service.requested.length;
    for (let step = 0; step < 5; step += 1) await nextStep(running.game);
    expect(service.requested).toHaveLength(requests);
  });

  it.each([
    ['de-AT', 'Gerade keine Werbung', 'ltr', 'Gerade keine Werbung'],
    ['ar', 'لا يوجد إعلان الآن', 'rtl', '\u2067لا يوجد إعلان الآن\u2069'],
  ])('shows its labels in %s once they have loaded', async (locale, text, direction, drawn) => {
    service.respond = () => ({ status: 'no_fill', reason: 'no_candidates' });
    await running.end();
    running = await bootGame(library);
    start(running, locale);
    const button = add();
    expect(drawnText(button)).toBe('Loading…');
    await expectLabel(text);
    expect(drawnText(button)).toBe(drawn);
    const buttonElement = element() as HTMLElement;
    expect([buttonElement.lang, getComputedStyle(buttonElement).direction]).toEqual([
      locale.slice(0, 2),
      direction,
    ]);
  });

  it('shows the game’s own labels', async () => {
    running.scene.ads.addRewardedButton({
      placement: 'revive',
      x: 100,
      y: 60,
      label: ({ state }) => (state === 'ready' ? 'Weiterleben' : '…'),
    });
    await expectLabel('Weiterleben');
  });

  it('is destroyed with its scene and can be added again after a restart', async () => {
    const { scene } = running;
    const buttonCount = () => running.game.canvas.querySelectorAll('button').length;
    add();
    await expectLabel(readyLabel);
    scene.scene.restart();
    await eventually(() => expect(buttonCount()).toBe(0));
    add();
    await expectLabel(readyLabel);
    expect(buttonCount()).toBe(1);
  });

  it('aborts its ad when it is destroyed during the ad', async () => {
    service.respond = () => picture(60_000);
    const button = add();
    const adResult = new Promise<ShowResult>((resolve) => {
      running.scene.ads.on('result', (_placement, result) => resolve(result));
    });
    const started = new Promise<void>((resolve) => running.scene.ads.on('start', () => resolve()));
    await expectLabel(readyLabel);
    element()?.click();
    await started;
    button.destroy();
    expect((await adResult).outcome).toBe('aborted');
    expect(results).toEqual([]);
  });
});
