import { beforeEach, describe, expect, test } from 'vitest';
import { type CocosEngine, createCocosEngine } from '../../fakes/cocos-engine.ts';

// The adapter's tests rely on this fake, so it has to behave like the real engine, as measured with version 3.8.5 in
// Chromium.

let engine: CocosEngine;
let log: string[];

beforeEach(() => {
  engine = createCocosEngine();
  log = [];
});

function logDirector(...names: string[]): void {
  for (const name of names) engine.director.on(`director_${name}`, () => log.push(name));
}

describe('a frame', () => {
  beforeEach(() => {
    logDirector('begin_frame', 'before_update', 'after_update', 'before_draw', 'after_draw');
    logDirector('end_frame');
    engine.onUpdate = () => log.push('update');
    engine.onDraw = () => log.push('draw');
  });

  test('updates, then draws', () => {
    engine.tick();
    expect(log).toEqual([
      'begin_frame',
      'before_update',
      'update',
      'after_update',
      'before_draw',
      'draw',
      'after_draw',
      'end_frame',
    ]);
  });

  test('skips the update while the director is paused', () => {
    engine.director.pause();
    engine.tick();
    expect(log).toEqual(['begin_frame', 'before_draw', 'draw', 'after_draw', 'end_frame']);
  });

  test('does not run while the game is paused', () => {
    engine.game.pause();
    engine.tick();
    expect(log).toEqual([]);
  });

  test('does not run while the page is hidden', () => {
    engine.hide();
    engine.tick();
    expect(log).toEqual([]);
  });
});

describe('the delta time', () => {
  test('includes a pause of less than a second', () => {
    engine.tick();
    engine.game.pause();
    engine.wait(800);
    engine.game.resume();
    engine.tick(16);
    expect(engine.dt).toBeCloseTo(0.816);
  });

  test('is one frame after a longer pause', () => {
    engine.tick();
    engine.game.pause();
    engine.wait(1500);
    engine.game.resume();
    engine.tick(16);
    expect(engine.dt).toBeCloseTo(1 / 60);
  });
});

describe('pausing', () => {
  beforeEach(() => {
    engine.game.on('game_on_pause', () => log.push('pause'));
    engine.game.on('game_on_resume', () => log.push('resume'));
  });

  test('emits one event, and so does resuming', () => {
    engine.game.pause();
    engine.game.pause();
    engine.game.resume();
    engine.game.resume();
    expect(log).toEqual(['pause', 'resume']);
  });

  test('a pause by the game remains in effect when the page is hidden and shown again', () => {
    engine.game.pause();
    engine.hide();
    engine.show();
    expect(engine.game.isPaused()).toBe(true);
    expect(log).toEqual(['pause']);
  });

  test('a pause by the game on a hidden page ends when the page is shown', () => {
    engine.hide();
    engine.game.pause();
    engine.show();
    expect(engine.game.isPaused()).toBe(false);
    expect(log).toEqual(['pause', 'resume']);
  });

  test('interrupts the sounds that are playing, and resuming restarts only those', () => {
    const music = engine.playSound();
    const pausedSound = engine.playSound();
    pausedSound.pause();
    engine.game.pause();
    expect([music.state, pausedSound.state]).toEqual(['interrupted', 'paused']);
    engine.game.resume();
    expect([music.state, pausedSound.state]).toEqual(['playing', 'paused']);
  });
});

describe('listeners', () => {
  test('are registered once per callback', () => {
    const callback = () => log.push('called');
    engine.director.on('director_after_update', callback);
    engine.director.on('director_after_update', callback);
    engine.tick();
    expect(log).toEqual(['called']);
    engine.director.off('director_after_update', callback);
    expect(engine.listenerCount()).toBe(0);
  });

  test('that are added while an event is emitted are not called for that event', () => {
    engine.director.once('director_after_update', () => {
      engine.director.on('director_after_update', () => log.push('late'));
    });
    engine.tick();
    expect(log).toEqual([]);
    engine.tick();
    expect(log).toEqual(['late']);
  });
});
