import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { playsSound } from '../engines/exact.ts';
import { click } from './real-input.ts';
import { cocosDriver } from '../../../src/cocos/cocos-driver.ts';
import type { CocosModule } from '../../../src/cocos/cocos-module.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import { phaserDriver } from '../../../src/phaser/phaser-driver.ts';
import { type CocosEngine, createCocosEngine } from '../../fakes/cocos-engine.ts';
import { eventually } from '../../support/eventually.ts';
import {
  audioSettings,
  bootGame,
  olderPhasers,
  phaser4,
  type RunningGame,
} from '../phaser/phaser-games.ts';
import { listCocosCalls } from './cocos-calls.ts';
import { checkWishes, createSilence, forEach, index } from './wishes.ts';

// A page may play sound only after a user gesture.
beforeAll(() => click(document.body));

beforeEach(() => {
  // Phaser warns about every call that has no effect.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

const runs = inject('full') ? 500 : 30;

function addCanvas(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  document.body.append(canvas);
  return canvas;
}

/** An engine that was built without audio. */
function withoutAudio(engine: CocosEngine): CocosModule {
  const { AudioSource: _, ...silentEngine } = engine;
  return silentEngine;
}

it.each(['audio', 'no audio'])('Cocos Creator with %s', async (kind) => {
  const hasAudio = kind === 'audio';
  document.body.replaceChildren();
  const canvas = addCanvas();
  await checkWishes(
    () => {
      const engine = createCocosEngine(canvas);
      const sounds = hasAudio ? index.map(() => engine.addSound()) : [];
      const soundCalls = {
        newSound: () => engine.playSound(),
        // Its sounds are gone, and another one begins.
        loadScene: () => engine.loadScene(),
      };
      let updates = 0;
      engine.onUpdate = () => (updates += 1);
      return {
        driver: cocosDriver(hasAudio ? engine : withoutAudio(engine)),
        calls: {
          ...listCocosCalls(engine, sounds),
          ...(hasAudio ? soundCalls : {}),
        },
        state: () => [
          engine.game.isPaused(),
          engine.director.isPaused(),
          engine.listSounds().map(({ isValid, state, volume }) => [isValid, state, volume]),
        ],
        noise() {
          const updatesBefore = updates;
          engine.tick();
          return [
            ...(updates > updatesBefore ? ['a frame'] : []),
            ...engine.input.splice(0),
            ...engine.listSounds().flatMap(({ state }) => (state === 'playing' ? ['a sound'] : [])),
          ];
        },
      };
    },
    inject('full') ? 1_000 : 200,
  );
});

it.runIf(playsSound)('no engine', async () => {
  const elements = index.map(createSilence);
  // The driver can't find an element outside the page, unless the game plays it during the ad.
  const [outside] = elements;
  const newElements = index.map(createSilence);
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  document.body.replaceChildren(canvas, ...elements.slice(1));
  let wasPlayed = false;
  await checkWishes(() => {
    const all = [...elements, ...newElements];
    for (const element of all) {
      element.pause();
      element.muted = false;
      element.volume = 1;
    }
    for (const element of newElements) element.remove();
    wasPlayed = false;
    return {
      driver: noEngine(canvas),
      calls: {
        newSound() {
          const element = newElements.find(({ isConnected }) => !isConnected);
          if (element === undefined) return;
          document.body.append(element);
          element.play().catch(() => {});
        },
        ...forEach(elements, {
          play(element) {
            if (element === outside) wasPlayed = true;
            element.play().catch(() => {});
          },
          pause: (element) => element.pause(),
          mute: (element) => (element.muted = true),
          unmute: (element) => (element.muted = false),
          quieter: (element) => (element.volume = 0.5),
        }),
      },
      state: () => all.map(({ muted, paused, volume }) => [muted, paused, volume]),
      noise: () =>
        all.flatMap((element) =>
          element.paused || (element === outside && wasPlayed) ? [] : ['a sound'],
        ),
    };
  }, runs);
});

describe.each([phaser4, ...olderPhasers])('Phaser $version', ({ load }) => {
  const running: RunningGame[] = [];
  afterEach(async () => {
    for (const { end } of running.splice(0)) await end();
  });

  const kinds = playsSound ? ['Web Audio', 'HTML5 audio', 'no audio'] : ['no audio'];
  it.each(kinds)('with %s', async (kind) => {
    document.body.replaceChildren();
    const audio =
      kind === 'Web Audio'
        ? audioSettings()
        : kind === 'HTML5 audio'
          ? { disableWebAudio: true }
          : { noAudio: true };
    const booted = await bootGame(await load(), { audio });
    running.push(booted);
    const { game, scene } = booted;
    game.canvas.tabIndex = 0;
    // Enough for the sounds of the test, because a sound without a free element would take another's.
    const tags = Array.from({ length: 6 }, createSilence);
    const context = 'context' in game.sound ? game.sound.context : undefined;
    if (context) await eventually(() => expect(context.state).toBe('running'));
    for (const tag of tags) tag.dataset['used'] = 'false';
    const asset = context ? context.createBuffer(1, 44_100, 44_100) : tags;
    game.cache.audio.add('tone', asset);
    const add = () => game.sound.add('tone');
    const [sounds, newSounds] = kind === 'no audio' ? [[], []] : [index.map(add), [add(), add()]];
    const all = [...sounds, ...newSounds];
    const playNew = (sound = newSounds.find(({ isPlaying }) => !isPlaying)) =>
      void sound?.play({ loop: true });
    // A scene whose music begins with it.
    const other = game.scene.add('other', { create: () => playNew(newSounds[1]) }, false);
    let steps = 0;
    game.events.on('step', () => (steps += 1));

    await checkWishes(() => {
      game.loop.wake();
      game.resume();
      game.scene.stop('other');
      if (scene.scene.isPaused()) scene.sys.resume();
      if (scene.scene.isSleeping()) scene.sys.wake();
      game.sound.setMute?.(false);
      scene.input.enabled = true;
      for (const sound of all) sound.stop();
      const stepsBefore = steps;
      return {
        driver: phaserDriver(game),
        calls: {
          pause: () => game.pause(),
          resume: () => game.resume(),
          'scene.pause': () => scene.sys.pause(),
          'scene.resume': () => scene.sys.resume(),
          'scene.sleep': () => scene.sys.sleep(),
          'scene.wake': () => scene.sys.wake(),
          'other.start': () => game.scene.start('other'),
          'other.stop': () => game.scene.stop('other'),
          'input.off': () => (scene.input.enabled = false),
          'input.on': () => (scene.input.enabled = true),
          pauseAll: () => game.sound.pauseAll(),
          resumeAll: () => game.sound.resumeAll(),
          stopAll: () => game.sound.stopAll(),
          mute: () => game.sound.setMute?.(true),
          newSound: () => playNew(newSounds[0]),
          ...forEach(sounds, {
            play: (sound) => sound.play({ loop: true }),
            pause: (sound) => sound.pause(),
            resume: (sound) => sound.resume(),
            stop: (sound) => sound.stop(),
          }),
        },
        state: () => [
          game.isPaused,
          scene.sys.settings.status,
          other?.scene.isActive(),
          scene.input.enabled,
          // Web Audio applies it later.
          context ? undefined : game.sound.mute,
          all.map(({ isPaused, isPlaying }) => [isPaused, isPlaying]),
          tags.filter(({ paused }) => !paused).length,
        ],
        noise: () => [
          ...(game.isPaused ? [] : ['the game']),
          ...(steps > stepsBefore ? ['a step'] : []),
          ...tags.flatMap(({ paused }) => (paused ? [] : ['a sound'])),
        ],
      };
    }, runs);
    if (context) await eventually(() => expect(context.state).toBe('running'));
  });
});
