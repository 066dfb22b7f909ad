import { beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { cocosDriver } from '../../../src/cocos/cocos-driver.ts';
import type { CocosAudioSource, CocosModule } from '../../../src/cocos/cocos-module.ts';
import { eventually } from '../../support/eventually.ts';
import { click } from '../engine/real-input.ts';
import { listCocosCalls } from '../engine/cocos-calls.ts';
import { checkWishes, createSilence, index } from '../engine/wishes.ts';
import { frames } from '../phaser/phaser-games.ts';

// The driver in Cocos Creator's own engine, which is not part of this repository: COCOS_ENGINE is a folder with it
// (CONTRIBUTING.md). Without the folder, the same properties are tested with a fake (`game-wishes.test.ts`).

/** What the test uses of the real module, besides what the driver uses. */
interface RealCocos extends CocosModule {
  game: CocosModule['game'] & {
    init(config: object): Promise<void>;
    run(): Promise<void>;
  };
  director: CocosModule['director'] & {
    pause(): void;
    resume(): void;
    getTotalFrames(): number;
    runScene(scene: CocosNode): void;
    runSceneImmediate(scene: CocosNode): void;
  };
  Scene: new (name: string) => CocosNode;
  Node: new () => CocosNode;
  assetManager: {
    loadRemote(url: string, options: object, done: (error: unknown, clip: object) => void): void;
  };
}

interface CocosNode {
  addChild(node: CocosNode): void;
  addComponent(type: unknown): Sound;
}

interface Sound extends CocosAudioSource {
  clip: object;
  loop: boolean;
  playOnAwake: boolean;
  volume: number;
}

const folder = inject('cocosEngine');
let cc: RealCocos;
let clip: object;

/** Keeps the engine's times and warnings out of the test's output. */
function silenceConsole(): void {
  for (const name of ['log', 'time', 'timeEnd', 'warn'] as const)
    vi.spyOn(console, name).mockImplementation(() => {});
}

/** Starts the engine on a page like that of Creator's own template, and loads a sound. */
async function startEngine(): Promise<void> {
  document.body.innerHTML =
    '<div id="GameDiv"><div id="Cocos3dGameContainer"><canvas id="GameCanvas" tabindex="99"></canvas></div></div>';
  cc = (await import(/* @vite-ignore */ `${folder}/cc.js`)) as RealCocos;
  await cc.game.init({ overrideSettings: { screen: { exactFitScreen: true } } });
  await cc.game.run();
  const { src } = createSilence();
  clip = await new Promise((resolve, reject) =>
    cc.assetManager.loadRemote(src, { ext: '.wav' }, (error, asset) =>
      error ? reject(error as Error) : resolve(asset),
    ),
  );
}

function startScene(): CocosNode {
  cc.game.resume();
  cc.director.resume();
  const scene = new cc.Scene('first');
  cc.director.runSceneImmediate(scene);
  return scene;
}

function addSound(scene: CocosNode, playOnAwake = false): Sound {
  const node = new cc.Node();
  const sound = node.addComponent(cc.AudioSource);
  Object.assign(sound, { clip, loop: true, playOnAwake });
  scene.addChild(node);
  return sound;
}

describe.runIf(folder !== '')('In Cocos Creator’s own engine', () => {
  beforeAll(async () => {
    silenceConsole();
    // A page may play sound only after a user gesture.
    await click(document.body);
    await startEngine();
  });
  beforeEach(silenceConsole);

  it('the game has after an ad what it wants', { timeout: 600_000 }, async () => {
    await checkWishes(
      () => {
        const scene = startScene();
        const sounds = index.map(() => addSound(scene));
        const all = [...sounds];
        let framesBefore = Infinity;
        const driver = cocosDriver(cc);
        return {
          driver: {
            ...driver,
            hold() {
              const release = driver.hold();
              framesBefore = cc.director.getTotalFrames();
              return release;
            },
          },
          settle: () => frames(5),
          calls: {
            ...listCocosCalls(cc, sounds),
            newSound() {
              const sound = addSound(scene);
              all.push(sound);
              sound.play();
            },
          },
          state: () => [
            cc.game.isPaused(),
            cc.director.isPaused(),
            all.map(({ playing, volume }) => [playing, volume]),
          ],
          noise: () => [
            ...(cc.director.getTotalFrames() > framesBefore ? ['a frame'] : []),
            ...all.flatMap(({ playing }) => (playing ? ['a sound'] : [])),
          ],
        };
      },
      inject('full') ? 100 : 15,
    );
  });

  it('music of a scene that the game loads during an ad waits', async () => {
    startScene();
    const next = new cc.Scene('next');
    const music = addSound(next, true);
    // Takes place at the end of the frame, when the ad is up.
    cc.director.runScene(next);
    const release = cocosDriver(cc).hold();
    await frames(10);
    expect(music.playing).toBe(false);
    release();
    await eventually(() => expect(music.playing).toBe(true));
  });

  it('music in a paused game is silent during an ad, and goes on after it', async () => {
    const music = addSound(startScene());
    cc.game.pause();
    music.play();
    await eventually(() => expect(music.playing).toBe(true));
    const release = cocosDriver(cc).hold();
    await frames(5);
    expect(music.playing).toBe(false);
    release();
    await eventually(() => expect(music.playing).toBe(true));
    expect(cc.game.isPaused()).toBe(true);
  });
});
