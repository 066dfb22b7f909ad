import type * as Phaser from 'phaser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey } from '../../support/stub-service.ts';
import { bootGame, phaserVersions, type RunningGame } from './phaser-games.ts';

describe.each(phaserVersions)('the balance text in Phaser $version', ({ load }) => {
  let running: RunningGame;
  let coins: number;
  let version: number;

  beforeEach(async () => {
    document.body.replaceChildren();
    coins = version = 1_250;
    running = await bootGame(await load());
    TruewardPlugin.install(running.game, {
      publishableKey: createPublishableKey(),
      serviceUrl: 'https://ads.test',
      userToken: () => Promise.resolve('token'),
      locale: 'de',
      fetch: () =>
        Promise.resolve(
          Response.json({
            player_ref: 'player-42',
            balances: { coins },
            entitlements: [],
            version,
            now: new Date().toISOString(),
          }),
        ),
    });
  });
  afterEach(() => running.end());

  const add = (label?: (balance: number) => string): Phaser.GameObjects.Text =>
    running.scene.ads.addWalletText({ type: 'coins', x: 4, y: 8, ...(label && { label }) });
  const readFallbacks = () =>
    [...running.game.canvas.querySelectorAll('p')].map(({ textContent }) => textContent);

  it('follows the balance, also for screen readers', async () => {
    const text = add();
    expect([text.x, text.y, text.text]).toEqual([4, 8, '0']);
    await eventually(() => expect(text.text).toBe('1.250'));
    expect(readFallbacks()).toEqual(['1.250']);
    coins = 7;
    version += 1;
    await running.scene.ads.wallet.refresh();
    expect(text.text).toBe('7');
    expect(readFallbacks()).toEqual(['7']);
  });

  it('shows the game’s own text, and ends with its scene', async () => {
    const text = add((balance) => `Münzen: ${balance}`);
    await eventually(() => expect(text.text).toBe('Münzen: 1250'));
    running.scene.scene.restart();
    await eventually(() => expect(readFallbacks()).toEqual([]));
    coins = 7;
    version += 1;
    await running.scene.ads.wallet.refresh();
    const next = add((balance) => `Münzen: ${balance}`);
    expect(next.text).toBe('Münzen: 7');
    expect(readFallbacks()).toEqual(['Münzen: 7']);
  });
});
