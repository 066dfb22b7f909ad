import * as fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { click } from './real-input.ts';
import { cocosDriver } from '../../../src/cocos/cocos-driver.ts';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import { phaserDriver } from '../../../src/phaser/phaser-driver.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';
import { eventually } from '../../support/eventually.ts';
import {
  audioSettings,
  bootGame,
  olderPhasers,
  phaser4,
  type RunningGame,
} from '../phaser/phaser-games.ts';

// A page may play sound only after a user gesture.
beforeAll(() => click(document.body));

beforeEach(() => {
  // Phaser warns about every call that has no effect.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

// Random sequences of what a game asks of its engine, before, during and after an ad. Afterward, the game is in the same
// state as without the ad. During the ad, nothing of it runs or sounds.

/** A game in its first state, and everything that it may ask for. */
interface World {
  driver: EngineDriver;
  calls: Record<string, () => void>;
  state(): unknown;
  /** What runs or sounds now. */
  noise(): string[];
}

interface Sequence {
  before: string[];
  during: string[];
  after: string[];
}

function play({ before, during, after }: Sequence, world: World, withAd: boolean) {
  const noise: string[] = [];
  const make = (names: string[]) => names.forEach((name) => world.calls[name]?.());
  make(before);
  const release = withAd ? world.driver.hold() : () => {};
  for (const name of withAd ? ['', ...during] : during) {
    make([name]);
    if (withAd) noise.push(...world.noise().map((what) => `${what} after ${name || 'the start'}`));
  }
  release();
  make(after);
  return { noise, state: world.state() };
}

function check(createWorld: () => World, runs: number): void {
  const { calls } = createWorld();
  const names = fc.array(fc.constantFrom(...Object.keys(calls)), { maxLength: 6 });
  fc.assert(
    fc.property(fc.record({ before: names, during: names, after: names }), (sequence) => {
      const { state } = play(sequence, createWorld(), false);
      expect(play(sequence, createWorld(), true)).toEqual({ noise: [], state });
    }),
    { numRuns: runs },
  );
}

const runs = inject('full') ? 500 : 30;

const index = [0, 1, 2];

/** Names calls after their object: `a.play`, `b.play`. */
const forEach = <Thing>(things: readonly Thing[], calls: Record<string, (thing: Thing) => void>) =>
  Object.fromEntries(
    things.flatMap((thing, at) =>
      Object.entries(calls).map(([name, call]) => [`${'abc'[at]}.${name}`, () => call(thing)]),
    ),
  );

it('Cocos Creator', () => {
  check(() => {
    const engine = createCocosEngine();
    const sounds = index.map(() => engine.addSound());
    let updates = 0;
    engine.onUpdate = () => (updates += 1);
    return {
      driver: cocosDriver(engine),
      calls: {
        pause: () => engine.game.pause(),
        resume: () => engine.game.resume(),
        'director.pause': () => engine.director.pause(),
        'director.resume': () => engine.director.resume(),
        ...forEach(sounds, {
          play: (sound) => sound.play(),
          pause: (sound) => sound.pause(),
          stop: (sound) => sound.stop(),
        }),
      },
      state: () => [
        engine.game.isPaused(),
        engine.director.isPaused(),
        sounds.map(({ state }) => state),
      ],
      noise() {
        const updatesBefore = updates;
        engine.tick();
        return [
          ...(updates > updatesBefore ? ['a frame'] : []),
          ...sounds.flatMap(({ state }) => (state === 'playing' ? ['a sound'] : [])),
        ];
      },
    };
  }, 200);
});

/** A second of silence. */
function createSilence(): HTMLAudioElement {
  const samples = 8_000;
  const bytes = new DataView(new ArrayBuffer(44 + samples));
  const text = (at: number, value: string) =>
    Array.from(value).forEach((letter, offset) =>
      bytes.setUint8(at + offset, letter.charCodeAt(0)),
    );
  text(0, 'RIFF');
  bytes.setUint32(4, 36 + samples, true);
  text(8, 'WAVEfmt ');
  bytes.setUint32(16, 16, true);
  bytes.setUint32(20, 0x0001_0001, true);
  bytes.setUint32(24, samples, true);
  bytes.setUint32(28, samples, true);
  bytes.setUint32(32, 0x0008_0001, true);
  text(36, 'data');
  bytes.setUint32(40, samples, true);
  for (let at = 0; at < samples; at += 1) bytes.setUint8(44 + at, 128);
  const audio = new Audio(URL.createObjectURL(new Blob([bytes], { type: 'audio/wav' })));
  audio.loop = true;
  return audio;
}

it('no engine', () => {
  const elements = index.map(createSilence);
  // The driver can't find an element outside the page, unless the game plays it during the ad.
  const [outside] = elements;
  document.body.replaceChildren(...elements.slice(1));
  let wasPlayed = false;
  check(() => {
    for (const element of elements) {
      element.pause();
      element.muted = false;
    }
    wasPlayed = false;
    return {
      driver: noEngine(),
      calls: forEach(elements, {
        play(element) {
          if (element === outside) wasPlayed = true;
          element.play().catch(() => {});
        },
        pause: (element) => element.pause(),
        mute: (element) => (element.muted = true),
      }),
      state: () => elements.map(({ muted, paused }) => [muted, paused]),
      noise: () =>
        elements.flatMap((element) =>
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

  it.each(['Web Audio', 'HTML5 audio', 'no audio'])('with %s', async (kind) => {
    const audio =
      kind === 'Web Audio'
        ? audioSettings()
        : kind === 'HTML5 audio'
          ? { disableWebAudio: true }
          : { noAudio: true };
    const booted = await bootGame(await load(), { audio });
    running.push(booted);
    const { game, scene } = booted;
    const tags = Array.from({ length: 3 }, createSilence);
    const context = 'context' in game.sound ? game.sound.context : undefined;
    if (context) await eventually(() => expect(context.state).toBe('running'));
    for (const tag of tags) tag.dataset['used'] = 'false';
    const asset = context ? context.createBuffer(1, 44_100, 44_100) : tags;
    game.cache.audio.add('tone', asset);
    const sounds = kind === 'no audio' ? [] : index.map(() => game.sound.add('tone'));
    let steps = 0;
    game.events.on('step', () => (steps += 1));

    check(() => {
      game.resume();
      if (scene.scene.isPaused()) scene.sys.resume();
      game.sound.setMute?.(false);
      for (const sound of sounds) sound.stop();
      const stepsBefore = steps;
      return {
        driver: phaserDriver(game),
        calls: {
          pause: () => game.pause(),
          resume: () => game.resume(),
          'scene.pause': () => scene.sys.pause(),
          'scene.resume': () => scene.sys.resume(),
          pauseAll: () => game.sound.pauseAll(),
          resumeAll: () => game.sound.resumeAll(),
          stopAll: () => game.sound.stopAll(),
          mute: () => game.sound.setMute?.(true),
          ...forEach(sounds, {
            play: (sound) => sound.play({ loop: true }),
            pause: (sound) => sound.pause(),
            resume: (sound) => sound.resume(),
            stop: (sound) => sound.stop(),
          }),
        },
        state: () => [
          game.isPaused,
          scene.scene.isPaused(),
          // Web Audio applies it later.
          context ? undefined : game.sound.mute,
          sounds.map(({ isPaused, isPlaying }) => [isPaused, isPlaying]),
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
