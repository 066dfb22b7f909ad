import type * as Phaser from 'phaser';
import { inject } from 'vitest';

interface PhaserVersion {
  version: string;
  load(): Promise<typeof Phaser>;
}

export const phaser4: PhaserVersion = { version: '4', load: () => import('phaser') };
/** The versions that `older-phasers.test.ts` tests. */
export const olderPhasers: PhaserVersion[] = [
  { version: '3.90', load: () => import('phaser3') },
  { version: '3.60', load: () => import('phaser360') },
];

/** The current version, or every supported version with `npm run test:full`. */
export const phaserVersions = inject('full') ? [phaser4, ...olderPhasers] : [phaser4];

export interface RunningGame {
  game: Phaser.Game;
  scene: Phaser.Scene;
  end(): Promise<void>;
}

/** Starts a small game with one scene, and resolves after its first step. */
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

/**
 * Returns audio settings with an audio context that the test owns. When the game is destroyed, Phaser only suspends
 * this context, but would close a context that it had created itself. Closing rejects pending `resume()` promises, and
 * Phaser does not handle these rejections (`WebAudioSoundManager.onFocus`, `onGameVisible`).
 */
export const audioSettings = (): Phaser.Types.Core.AudioConfig => ({ context: new AudioContext() });

/** Resolves with the next step's delta, in milliseconds. */
export function nextStep(game: Phaser.Game): Promise<number> {
  return new Promise((resolve) => {
    game.events.once('step', (_time: number, delta: number) => resolve(delta));
  });
}

/** Waits for this many frames. A running game would run a step in each of them. */
export async function frames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}

export function setHidden(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}

/** Reverts {@link setHidden}. */
export function resetHidden(): void {
  Reflect.deleteProperty(document, 'hidden');
}

function endGame(game: Phaser.Game): Promise<void> {
  return new Promise((resolve) => {
    game.events.once('destroy', () => resolve());
    game.destroy(true);
  });
}
