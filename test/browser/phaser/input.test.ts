import type * as Phaser from 'phaser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { server } from 'vitest/browser';
import { holdInput } from '../../../src/ad-break/hold-input.ts';
import { openGate } from '../ad-break/stage-set.ts';
import { phaserDriver } from '../../../src/phaser/phaser-driver.ts';
import { finger, keyboard, keys, mouse } from '../engine/real-input.ts';
import { eventually } from '../../support/eventually.ts';
import { bootGame, nextStep, phaserVersions } from './phaser-games.ts';

// Tests input behavior that is specific to Phaser. `test/browser/engine/input.test.ts` covers every engine.

const arrowRight = 39;

describe.runIf(server.browser === 'chromium').each(phaserVersions)(
  'In Phaser $version',
  ({ load }) => {
    let game: Phaser.Game;
    let scene: Phaser.Scene;
    let end: () => Promise<void>;
    let dialog: HTMLDialogElement;
    let calls: string[];

    beforeEach(async () => {
      ({ game, scene, end } = await bootGame(await load(), { input: { touch: true } }));
      game.canvas.style.cssText = 'position: fixed; left: 40px; top: 80px';
      game.canvas.tabIndex = 0;
      game.canvas.focus();
      calls = [];
      await nextStep(game);
    });

    afterEach(async () => {
      dialog.remove();
      await end();
    });

    const log = (name: string) => () => void calls.push(name);

    /** Opens an ad as an ad break does. */
    function openAd(): () => void {
      dialog = document.body.appendChild(document.createElement('dialog'));
      dialog.textContent = 'Ad';
      const releaseGame = phaserDriver(game).hold();
      dialog.showModal();
      const releaseInput = holdInput(dialog, game.canvas, openGate);
      return () => {
        dialog.remove();
        releaseGame();
        releaseInput();
      };
    }

    it('a key that is released during the ad fires every kind of listener', async () => {
      const input = scene.input.keyboard as Phaser.Input.Keyboard.KeyboardPlugin;
      const key = input.addKey(arrowRight).on('up', log('key'));
      input.on('keyup', log('any')).on('keyup-RIGHT', log('right'));
      await keyboard.down(keys.right);
      await keyboard.repeat(keys.right);
      expect(key.isDown).toBe(true);
      const release = openAd();
      await keyboard.repeat(keys.right);
      await keyboard.up(keys.right);
      expect(calls).toEqual([]);
      release();
      await eventually(() => expect(calls).toEqual(['key', 'right', 'any']));
      await nextStep(game);
      await nextStep(game);
      expect(calls).toHaveLength(3);
      expect(key.isDown).toBe(false);
    });

    it('a disabled keyboard stays disabled', async () => {
      const manager = game.input.keyboard as Phaser.Input.Keyboard.KeyboardManager;
      manager.enabled = false;
      openAd()();
      expect(manager.enabled).toBe(false);
    });

    it.each([
      ['mouse', mouse],
      ['finger', finger],
    ] as const)(
      'an object that is being dragged with the %s is dropped where it was when the ad opened',
      async (_name, device) => {
        const zone = scene.add.zone(100, 60, 40, 40).setInteractive({ draggable: true });
        scene.input.on('drag', (_pointer: unknown, _zone: unknown, x: number, y: number) =>
          zone.setPosition(x, y),
        );
        zone.on('dragstart', log('dragstart')).on('dragend', log('dragend'));
        zone.on('pointerup', log('click'));
        await device.down(game.canvas);
        await device.drag(game.canvas, 4);
        await device.drag(game.canvas, 8);
        expect(calls).toEqual(['dragstart']);
        const { x } = zone;
        const release = openAd();
        await device.drag(dialog, 0);
        await device.up(dialog);
        expect(calls).toEqual(['dragstart']);
        release();
        await eventually(() => expect(calls).toEqual(['dragstart', 'dragend']));
        expect(zone.x).toBe(x);
        expect(game.input.activePointer.isDown).toBe(false);
        await nextStep(game);
        expect(calls).toHaveLength(2);
      },
    );

    it('presses on the ad are not reported as presses outside the canvas', async () => {
      scene.input.on('pointerdownoutside', log('down')).on('pointerupoutside', log('up'));
      const release = openAd();
      await mouse.down(dialog);
      await mouse.up(dialog);
      release();
      await nextStep(game);
      expect(calls).toEqual([]);
    });
  },
);
