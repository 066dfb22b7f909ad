import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import canvasGuide from '../../../docs/canvas.md?raw';
import driverGuide from '../../../docs/engine-driver.md?raw';
import phaserGuide from '../../../docs/phaser.md?raw';
import { freshKey, stubService, type StubService } from '../../support/stub-service.ts';
import { type Play, startGame as startPhaserGame } from '../phaser/guide-game.ts';
import { startGame as startCanvasGame } from '../../../demo/examples/canvas-game.ts';
import { eventually } from '../../support/eventually.ts';

const { phaserSource = '', canvasSource = '' } = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>(['../phaser/guide-game.ts', '../../../demo/examples/canvas-game.ts'], {
      query: '?raw',
      import: 'default',
      eager: true,
    }),
  ).map(([path, text]) => [path.includes('phaser') ? 'phaserSource' : 'canvasSource', text]),
);
let service: StubService;

beforeEach(() => {
  document.body.replaceChildren();
  service = stubService();
});

const options = () => ({
  publishableKey: freshKey(),
  serviceUrl: 'https://ads.test',
  fetch: service.fetch,
});

const clean: (() => void)[] = [];
afterEach(() => {
  for (const end of clean.splice(0)) end();
});

/** Every line of code in a guide that says which file it is from, without its indentation. */
function linesOf(guide: string): string[] {
  return [...guide.matchAll(/<!-- tested -->\n\n```ts\n(.*?)```/gs)]
    .flatMap(([, code = '']) => code.split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '// …');
}

it.each([
  ['Phaser', phaserGuide, phaserSource],
  ['a plain canvas', canvasGuide, canvasSource],
  ['drivers', driverGuide, canvasSource],
])('the guide to %s shows code that is tested here', (_name, guide, source) => {
  const lines = linesOf(guide);
  expect(lines.length).toBeGreaterThan(5);
  const tested = new Set(source.split('\n').map((line) => line.trim()));
  expect(lines.filter((line) => !tested.has(line))).toEqual([]);
});

it('the game of the Phaser guide gives coins for an ad', async () => {
  const game = startPhaserGame(options());
  clean.push(() => game.destroy(true));
  await eventually(() =>
    expect(document.querySelector('canvas button')?.textContent).toBe('Watch an ad'),
  );
  const scene = game.scene.getScenes(true)[0] as Play;
  await userEvent.click(game.canvas, { position: { x: 180, y: 120 } });
  await eventually(() => expect(scene.coins).toBe(50));
  const runs = vi.fn();
  scene.events.on('create', runs);
  await scene.die();
  await eventually(() => expect(runs).toHaveBeenCalledOnce());
});

it('the game of the canvas guide stands still during an ad, and gives coins for it', async () => {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  document.body.append(canvas);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser draws.');
  const write = vi.spyOn(context, 'fillText');
  const ads = startCanvasGame(canvas, options());
  clean.push(() => ads.destroy());
  await eventually(() => expect(write).toHaveBeenCalled());
  const shown = new Promise<void>((resolve) => {
    ads.on('start', () => {
      write.mockClear();
      resolve();
    });
  });
  const running = ads.showRewarded('revive');
  await shown;
  expect(write).not.toHaveBeenCalled();
  expect((await running).outcome).toBe('rewarded');
  await eventually(() => expect(write).toHaveBeenCalledWith('Coins: 50', 16, 24));
});
