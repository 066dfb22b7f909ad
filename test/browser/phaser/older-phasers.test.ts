import { expect, inject, it } from 'vitest';
import { click } from '../engine/real-input.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import { createPublishableKey, createStubService, readyLabel } from '../../support/stub-service.ts';
import { eventually } from '../../support/eventually.ts';
import { overlay } from '../ad-break/stage-set.ts';
import { bootGame, nextStep, olderPhasers } from './phaser-games.ts';

// Plays one ad from start to finish in the oldest supported version of Phaser 3. With `npm run test:full`, it is played
// in each of them, and all other tests in this folder run with these versions too.

it.each(inject('full') ? olderPhasers : olderPhasers.slice(-1))(
  'in Phaser $version an ad pauses the game, and its reward is delivered in a game step',
  async ({ load }) => {
    document.body.replaceChildren();
    const service = createStubService();
    const data = {
      publishableKey: createPublishableKey(),
      serviceUrl: 'https://ads.test',
      fetch: service.fetch,
    };
    const { end, game, scene } = await bootGame(await load(), {
      plugins: {
        global: [{ key: 'trueward', plugin: TruewardPlugin, start: true, data }],
      },
    });
    let keys = 0;
    scene.input.keyboard?.on('keydown', () => (keys += 1));
    let presses = 0;
    const press = () => {
      presses += 1;
      document.body.dispatchEvent(new KeyboardEvent('keydown', { keyCode: 39, bubbles: true }));
    };
    let inStep = false;
    let stepsDuringAd = 0;
    game.events.on('prestep', () => {
      inStep = true;
      if (overlay().dialog?.open) stepsDuringAd += 1;
    });
    game.events.on('poststep', () => (inStep = false));
    scene.ads.on('start', press);
    const rewards: { amount: number; inStep: boolean }[] = [];
    scene.ads.on('reward', ({ reward }) => {
      rewards.push({ amount: reward.amount, inStep });
    });
    scene.ads.addRewardedButton({ placement: 'revive', x: 100, y: 60 });
    const button = game.canvas.querySelector('button');
    await eventually(() => expect(button?.textContent).toBe(readyLabel));
    await nextStep(game);
    await click(game.canvas);

    await eventually(() => expect(rewards).toEqual([{ amount: 50, inStep: true }]));
    expect({ presses, keys, stepsDuringAd }).toEqual({ presses: 1, keys: 0, stepsDuringAd: 0 });
    expect(game.isPaused).toBe(false);
    press();
    await nextStep(game);
    expect(keys).toBe(1);
    await end();
    expect(document.body.children).toHaveLength(0);
  },
);
