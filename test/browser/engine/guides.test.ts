import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { click } from './real-input.ts';
import * as Phaser from 'phaser';
import * as truewardForPhaser from '../../../src/phaser/index.ts';
import canvasGuide from '../../../docs/canvas.md?raw';
import driverGuide from '../../../docs/engine-driver.md?raw';
import phaserGuide from '../../../docs/phaser.md?raw';
import {
  createPublishableKey,
  createStubService,
  type StubService,
  readyLabel,
} from '../../support/stub-service.ts';
import { startGame as startCanvasGame } from '../../../demo/examples/canvas-game.ts';
import { eventually } from '../../support/eventually.ts';
import { nextStep } from '../phaser/phaser-games.ts';

const [canvasSource = ''] = Object.values(
  import.meta.glob<string>('../../../demo/examples/canvas-game.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
);
let service: StubService;

beforeEach(() => {
  document.body.replaceChildren();
  service = createStubService();
});

const options = () => ({
  publishableKey: createPublishableKey(),
  serviceUrl: 'https://ads.test',
  fetch: service.fetch,
});

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanups.splice(0)) end();
});

/** Returns the lines of code that a guide quotes from a source file, with the indentation stripped. */
function readLines(guide: string): string[] {
  return [...guide.matchAll(/<!-- tested -->\n\n```ts\n(.*?)```/gs)]
    .flatMap(([, code = '']) => code.split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '// …');
}

it.each([
  ['canvas', canvasGuide, canvasSource],
  ['driver', driverGuide, canvasSource],
])('every line of code in the %s guide comes from a tested game', (_name, guide, source) => {
  const lines = readLines(guide);
  expect(lines.length).toBeGreaterThan(5);
  const tested = new Set(source.split('\n').map((line) => line.trim()));
  expect(lines.filter((line) => !tested.has(line))).toEqual([]);
});

/** Runs the JavaScript from the Phaser guide. The test supplies the imports, the options and the rest of the game. */
async function startPhaserGame(options: object): Promise<Phaser.Game> {
  const [setup, scene] = Array.from(phaserGuide.matchAll(/```js\n(.*?)```/gs), ([, code = '']) =>
    code
      .replace(/^import (\{.*\}) from '(.*)';$/gm, "const $1 = guide['$2'];")
      .replace(/const data = \{.*?\};/s, 'const { data } = guide;'),
  );
  const modules = { phaser: Phaser, 'trueward/phaser': truewardForPhaser };
  const { Play } = await runModule<{ Play: typeof Phaser.Scene }>(scene, modules);
  let game: Phaser.Game | undefined;
  const Game = function (config: Phaser.Types.Core.GameConfig) {
    const expectedConfig = { type: Phaser.CANVAS, width: 360, height: 220, scene: Play };
    game = new Phaser.Game({ ...expectedConfig, ...config });
  };
  await runModule(setup, { ...modules, phaser: { Game }, data: options });
  if (!game) throw new Error('The guide did not create a game.');
  return game;
}

/** Runs code as a module. In place of imports, the code reads from `guide`. */
async function runModule<Exports>(code = '', guide: object): Promise<Exports> {
  const name = `guide${Math.random()}`;
  Reflect.set(globalThis, name, guide);
  const text = `const guide = globalThis['${name}'];\n${code}`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const exports: Exports = await import(/* @vite-ignore */ url);
  URL.revokeObjectURL(url);
  Reflect.deleteProperty(globalThis, name);
  return exports;
}

it('the game in the Phaser guide credits coins for an ad', async () => {
  localStorage.removeItem('save');
  const game = await startPhaserGame(options());
  cleanups.push(() => game.destroy(true));
  await eventually(() =>
    expect(document.querySelector('canvas button')?.textContent).toBe(readyLabel),
  );
  const scene = game.scene.getScenes(true)[0] as Phaser.Scene & {
    save: { coins: number };
    continueRun(): Promise<void>;
  };
  // Phaser accepts a press on a button from its next step on.
  await nextStep(game);
  await click(game.canvas, { x: 180, y: 120 });
  await eventually(() => expect(scene.save.coins).toBe(50));
  const onCreate = vi.fn();
  scene.events.on('create', onCreate);
  await scene.continueRun();
  await eventually(() => expect(onCreate).toHaveBeenCalledOnce());
});

it('the game in the canvas guide pauses during an ad and credits coins for it', async () => {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  document.body.append(canvas);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('The canvas has no 2D context.');
  const write = vi.spyOn(context, 'fillText');
  const ads = startCanvasGame(canvas, options());
  cleanups.push(() => ads.destroy());
  await eventually(() => expect(write).toHaveBeenCalled());
  const adStarted = new Promise<void>((resolve) => {
    ads.on('start', () => {
      write.mockClear();
      resolve();
    });
  });
  const running = ads.showRewarded('revive');
  await adStarted;
  expect(write).not.toHaveBeenCalled();
  expect((await running).outcome).toBe('rewarded');
  await eventually(() => expect(write).toHaveBeenCalledWith('Coins: 50', 16, 24));
});
