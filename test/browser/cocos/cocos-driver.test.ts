import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cocosDriver } from '../../../src/cocos/cocos-driver.ts';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { type CocosEngine, createCocosEngine } from '../../fakes/cocos-engine.ts';

let canvas: HTMLCanvasElement;
let engine: CocosEngine;
let driver: EngineDriver;
let release: () => void;

beforeEach(() => {
  canvas = document.createElement('canvas');
  canvas.id = 'GameCanvas';
  canvas.tabIndex = 99;
  document.body.append(canvas);
  canvas.focus();
  engine = createCocosEngine(canvas);
  driver = cocosDriver(engine);
  release = () => {};
});

afterEach(() => {
  release();
  engine.destroy();
  document.body.replaceChildren();
  Reflect.deleteProperty(document, 'hidden');
});

function hold(): void {
  release = driver.hold();
}

function setHidden(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
  if (hidden) engine.hide();
  else engine.show();
}

test.each([
  [{ ENGINE_VERSION: '2.4.15', game: { pause() {} } }, 'received version 2.4.15'],
  [{ game: {} }, 'received a module without `game.on`'],
  [undefined, 'received a module without `game.on`'],
])('%o is refused with the supported versions', (module, text) => {
  const create = () => cocosDriver(module as unknown as CocosEngine);
  expect(create).toThrow('supports versions 3.8 and 4');
  expect(create).toThrow(text);
});

test('an engine that was built without audio is held', () => {
  const { AudioSource: _, ...silentEngine } = engine;
  release = cocosDriver(silentEngine).hold();
  expect(engine.game.isPaused()).toBe(true);
  release();
  expect(engine.game.isPaused()).toBe(false);
});

test.each([
  ['hidden', (field: HTMLInputElement) => (field.style.display = 'none')],
  ['disabled', (field: HTMLInputElement) => (field.disabled = true)],
  ['inert', (field: HTMLInputElement) => (field.inert = true)],
  ['removed', (field: HTMLInputElement) => field.remove()],
])('the canvas has the focus after an ad if the focused field is %s', (_, change) => {
  const field = document.body.appendChild(document.createElement('input'));
  field.focus();
  hold();
  const ad = document.body.appendChild(document.createElement('button'));
  ad.focus();
  change(field);
  ad.remove();
  release();
  expect(document.activeElement).toBe(canvas);
});

describe('hold()', () => {
  test('a sound that the game starts during the ad stays silent until the ad ends', () => {
    const alarm = engine.addSound();
    const jingle = engine.addSound();
    hold();
    // A scene that the game loads during the ad brings sounds of its own.
    const newMusic = engine.playSound();
    const gone = engine.playSound();
    gone.isValid = false;
    alarm.play();
    jingle.play();
    for (let shot = 0; shot < 30; shot += 1) alarm.playOneShot('shot');
    const states = () => [alarm, jingle, newMusic, gone].map(({ state }) => state);
    expect(states()).toEqual(['stopped', 'stopped', 'stopped', 'stopped']);

    jingle.stop();
    release();
    expect(states()).toEqual(['playing', 'stopped', 'playing', 'stopped']);
    expect(alarm.oneShots).toEqual(['shot']);
    jingle.play();
    expect(jingle.state).toBe('playing');
  });

  test('a sound suppressed on a hidden page starts when the game resumes', () => {
    const alarm = engine.addSound();
    hold();
    alarm.play();
    setHidden(true);
    release();
    expect(alarm.state).toBe('stopped');
    setHidden(false);
    expect(alarm.state).toBe('playing');
  });

  test('runs no frames and interrupts playing sounds until the ad ends', () => {
    let updates = 0;
    engine.onUpdate = () => (updates += 1);
    const music = engine.playSound();
    const pausedSound = engine.playSound();
    pausedSound.pause();

    hold();
    engine.tick();
    expect(updates).toBe(0);
    expect(music.state).toBe('interrupted');

    release();
    engine.tick();
    expect(updates).toBe(1);
    expect([music.state, pausedSound.state]).toEqual(['playing', 'paused']);
  });

  test('keeps a paused game paused', () => {
    engine.game.pause();
    hold();
    release();
    expect(engine.game.isPaused()).toBe(true);
  });

  test('stays in effect when the page is hidden and shown again', () => {
    hold();
    setHidden(true);
    setHidden(false);
    expect(engine.game.isPaused()).toBe(true);
    release();
    expect(engine.game.isPaused()).toBe(false);
  });

  test('stays in effect on a page that was already hidden', () => {
    const music = engine.playSound();
    setHidden(true);
    hold();
    setHidden(false);
    expect(engine.game.isPaused()).toBe(true);
    expect(music.state).toBe('interrupted');
    release();
    expect(engine.game.isPaused()).toBe(false);
    expect(music.state).toBe('playing');
  });

  test('postpones the game’s own resume until the ad has ended', () => {
    hold();
    engine.game.resume();
    expect(engine.game.isPaused()).toBe(true);
    release();
    expect(engine.game.isPaused()).toBe(false);
  });

  test('if the ad ends on a hidden page, the game resumes when the page is shown', () => {
    const music = engine.playSound();
    hold();
    setHidden(true);
    release();
    expect(engine.game.isPaused()).toBe(true);
    expect(music.state).toBe('interrupted');
    setHidden(false);
    expect(engine.game.isPaused()).toBe(false);
    expect(music.state).toBe('playing');
  });

  test('leaves no listeners behind after the ad', () => {
    hold();
    release();
    engine.tick();
    expect(engine.listenerCount()).toBe(0);
    engine.game.pause();
    release();
    expect(engine.game.isPaused()).toBe(true);
  });
});

describe('the delta time after an ad', () => {
  test.each([300, 800, 30_000])('is one frame if the ad lasted %i ms', (ms) => {
    engine.tick();
    hold();
    engine.wait(ms);
    release();
    engine.tick(16);
    expect(engine.dt).toBeCloseTo(1 / 60);
    engine.tick(500);
    expect(engine.dt).toBeCloseTo(0.5);
    expect(engine.Game.DEBUG_DT_THRESHOLD).toBe(1);
  });

  test('is one frame after two ads in the same frame', () => {
    engine.tick();
    hold();
    release();
    hold();
    engine.wait(500);
    release();
    engine.tick(16);
    expect(engine.dt).toBeCloseTo(1 / 60);
    expect(engine.Game.DEBUG_DT_THRESHOLD).toBe(1);
  });
});

describe('onFrame()', () => {
  test('calls back between the update and rendering', () => {
    const log: string[] = [];
    engine.onUpdate = () => log.push('update');
    engine.onDraw = () => log.push('draw');
    const stop = driver.onFrame(() => log.push('frame'));
    engine.tick();
    expect(log).toEqual(['update', 'frame', 'draw']);
    stop();
    engine.tick();
    expect(log.filter((line) => line === 'frame')).toHaveLength(1);
  });

  test('adds no listener without callbacks', () => {
    const stop = driver.onFrame(() => {});
    stop();
    expect(engine.listenerCount()).toBe(0);
  });

  test('does not call back while the game is paused for an ad', () => {
    let frames = 0;
    driver.onFrame(() => (frames += 1));
    hold();
    engine.tick();
    expect(frames).toBe(0);
    release();
    engine.tick();
    expect(frames).toBe(1);
  });

  test('calls back once per frame while the game has paused its director', () => {
    const log: string[] = [];
    engine.onDraw = () => log.push('draw');
    driver.onFrame(() => log.push('frame'));
    engine.director.pause();
    engine.tick();
    expect(log).toEqual(['frame', 'draw']);
  });

  test('calls a callback once for each registration', () => {
    let frames = 0;
    const callback = () => (frames += 1);
    const stop = driver.onFrame(callback);
    driver.onFrame(callback);
    engine.tick();
    expect(frames).toBe(2);
    stop();
    engine.tick();
    expect(frames).toBe(3);
  });
});

describe('keyboard focus', () => {
  test('returns focus to the canvas after an ad in an iframe', () => {
    canvas.blur();
    hold();
    const frame = document.createElement('iframe');
    document.body.append(frame);
    frame.focus();
    frame.remove();
    expect(document.activeElement).not.toBe(canvas);
    release();
    expect(document.activeElement).toBe(canvas);
    expect(driver.focusTarget()).toBe(canvas);
  });
});
