/// <reference types="vite/client" />
import type * as Phaser from 'phaser';

/** Each version, read as a game's bundler would: their type declarations can't live in one program. */
const modules = import.meta.glob<typeof Phaser>([
  '/node_modules/phaser/dist/phaser.esm.js',
  '/node_modules/phaser3/dist/phaser.esm.js',
  '/node_modules/phaser360/dist/phaser.esm.js',
]);

export const phaserVersions = [
  { version: '4', path: '/node_modules/phaser/dist/phaser.esm.js' },
  { version: '3.90', path: '/node_modules/phaser3/dist/phaser.esm.js' },
  { version: '3.60', path: '/node_modules/phaser360/dist/phaser.esm.js' },
];

export async function loadPhaser(path: string): Promise<typeof Phaser> {
  const load = modules[path];
  if (!load) throw new Error(`There is no ${path}.`);
  return load();
}

export interface RunningGame {
  game: Phaser.Game;
  scene: Phaser.Scene;
  end(): Promise<void>;
}

/** A small game with one scene, after its first step. */
export async function bootGame(
  { Game, CANVAS }: typeof Phaser,
  config: Phaser.Types.Core.GameConfig = {},
): Promise<RunningGame> {
  const game = new Game({
    type: CANVAS,
    width: 200,
    height: 120,
    banner: false,
    audio: { noAudio: true },
    scene: { key: 'main' },
    ...config,
  });
  await nextStep(game);
  const scene = game.scene.getScenes(true)[0];
  if (!scene) throw new Error('The scene has not started.');
  return { game, scene, end: () => endGame(game) };
}

/** The delta of the next step, in milliseconds. */
export function nextStep(game: Phaser.Game): Promise<number> {
  return new Promise((resolve) => {
    game.events.once('step', (_time: number, delta: number) => resolve(delta));
  });
}

/** Lets the browser draw; a game that ran would step in each of these frames. */
export async function frames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}

export function setHidden(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}

/** Ends what {@link setHidden} began. */
export function resetHidden(): void {
  Reflect.deleteProperty(document, 'hidden');
}

function endGame(game: Phaser.Game): Promise<void> {
  return new Promise((resolve) => {
    game.events.once('destroy', () => resolve());
    game.destroy(true);
  });
}
