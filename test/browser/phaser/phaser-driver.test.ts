import type * as Phaser from 'phaser';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { click } from '../engine/real-input.ts';
import { phaserDriver } from '../../../src/phaser/phaser-driver.ts';
import {
  audioSettings,
  bootGame,
  frames,
  nextStep,
  phaserVersions,
  resetHidden,
  setHidden,
} from './phaser-games.ts';
import { eventually } from '../../support/eventually.ts';

async function wait(ms: number): Promise<void> {
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < ms) await frames(1);
}

describe.each(phaserVersions)('the driver for Phaser $version', ({ load }) => {
  let library: typeof Phaser;
  let game: Phaser.Game;
  let scene: Phaser.Scene;
  let end: (() => Promise<void>) | undefined;

  const boot = async (config: Phaser.Types.Core.GameConfig = {}) => {
    ({ game, scene, end } = await bootGame(library, config));
  };

  beforeAll(async () => {
    library = await load();
  });

  afterEach(async () => {
    resetHidden();
    await end?.();
    end = undefined;
  });

  it('runs no step during the ad, even if the tab is hidden and shown again', async () => {
    await boot();
    const release = phaserDriver(game).hold();
    let steps = 0;
    game.events.on('step', () => (steps += 1));
    await frames(5);
    setHidden(true);
    setHidden(false);
    await frames(5);
    expect(steps).toBe(0);
    expect(game.isPaused).toBe(true);
    release();
    await nextStep(game);
    expect(steps).toBe(1);
  });

  it('postpones the game’s own resume until the ad has ended', async () => {
    await boot();
    game.pause();
    const release = phaserDriver(game).hold();
    game.resume();
    expect(game.isPaused).toBe(true);
    release();
    expect(game.isPaused).toBe(false);
  });

  it('keeps a paused game paused', async () => {
    await boot();
    game.pause();
    phaserDriver(game).hold()();
    expect(game.isPaused).toBe(true);
  });

  it('silences the sounds that are playing and resumes only those', async () => {
    await boot({ audio: audioSettings() });
    await click(game.canvas);
    const manager = game.sound as Phaser.Sound.WebAudioSoundManager;
    game.cache.audio.add('tone', manager.context.createBuffer(1, 44_100, 44_100));
    const [music, pausedByGame, idle] = ['a', 'b', 'c'].map(() => game.sound.add('tone'));
    if (!music || !pausedByGame || !idle) throw new Error('Expected three sounds.');
    music.play({ loop: true });
    pausedByGame.play({ loop: true });
    pausedByGame.pause();
    const release = phaserDriver(game).hold();
    await eventually(() => expect(manager.context.state).toBe('suspended'));
    release();
    await eventually(() => expect(manager.context.state).toBe('running'));
    expect([music.isPlaying, pausedByGame.isPlaying, idle.isPlaying]).toEqual([true, false, false]);
  });

  it('sounds that the game starts during the ad stay silent until the ad ends', async () => {
    await boot({ audio: audioSettings() });
    const { context } = game.sound as Phaser.Sound.WebAudioSoundManager;
    game.cache.audio.add('tone', context.createBuffer(1, 44_100, 44_100));
    await click(game.canvas);
    await eventually(() => expect(context.state).toBe('running'));
    const release = phaserDriver(game).hold();
    const newSound = game.sound.add('tone');
    newSound.play();
    await eventually(() => expect(context.state).toBe('suspended'));
    // Phaser does this when the window regains focus.
    await context.resume();
    expect(context.state).toBe('suspended');
    // Or the device does.
    await AudioContext.prototype.resume.call(context);
    await eventually(() => expect(context.state).toBe('suspended'));
    const { currentTime } = context;
    await frames(5);
    expect(context.currentTime).toBe(currentTime);
    release();
    await eventually(() => expect(context.state).toBe('running'));
    expect(newSound.isPlaying).toBe(true);
  });

  it('a sound that the game stopped during the ad stays stopped', async () => {
    await boot({ audio: audioSettings() });
    const { context } = game.sound as Phaser.Sound.WebAudioSoundManager;
    game.cache.audio.add('tone', context.createBuffer(1, 44_100, 44_100));
    const music = game.sound.add('tone');
    music.play({ loop: true });
    const release = phaserDriver(game).hold();
    music.stop();
    release();
    expect(music.isPlaying).toBe(false);
  });

  it('a game that paused itself during the ad stays paused', async () => {
    await boot();
    const release = phaserDriver(game).hold();
    game.pause();
    release();
    expect(game.isPaused).toBe(true);
    game.resume();
    game.pause();
    expect(game.isPaused).toBe(true);
    const releaseAgain = phaserDriver(game).hold();
    game.resume();
    game.pause();
    game.resume();
    expect(game.isPaused).toBe(true);
    releaseAgain();
    expect(game.isPaused).toBe(false);
  });

  it('causes no time jump in the first step after the ad', async () => {
    await boot();
    const release = phaserDriver(game).hold();
    await wait(800);
    const releasedAtMs = performance.now();
    release();
    const step = await nextStep(game);
    // Frames can be slow on a busy machine. But no step may include the ad's 800 ms.
    expect(step).toBeLessThan(performance.now() - releasedAtMs + 200);
  });

  it('does not change the game’s volume or mute state', async () => {
    await boot({ audio: audioSettings() });
    const changes: string[] = [];
    for (const name of ['mute', 'volume', 'pauseall', 'resumeall', 'stopall'])
      game.sound.on(name, () => changes.push(name));
    phaserDriver(game).hold()();
    expect(changes).toEqual([]);
    game.sound.setMute(true);
    expect(changes).toEqual(['mute']);
  });

  it('resumes audio that the device interrupted during the ad', async () => {
    await boot({ audio: audioSettings() });
    const { context } = game.sound as Phaser.Sound.WebAudioSoundManager;
    // A page can play sound only after a user gesture.
    await click(game.canvas);
    await eventually(() => expect(context.state).toBe('running'));
    const release = phaserDriver(game).hold();
    await AudioContext.prototype.suspend.call(context);
    await frames(3);
    expect(context.state).toBe('suspended');
    release();
    await eventually(() => expect(context.state).toBe('running'));
  });

  it('tweens and timers resume where they left off', async () => {
    await boot();
    const target = { x: 0 };
    let fired = false;
    scene.tweens.add({ targets: target, x: 1000, duration: 60_000 });
    scene.time.delayedCall(60_000, () => (fired = true));
    await nextStep(game);
    await nextStep(game);
    const before = target.x;
    const release = phaserDriver(game).hold();
    await wait(500);
    expect(target.x).toBe(before);
    const releasedAtMs = performance.now();
    release();
    await nextStep(game);
    await nextStep(game);
    // The tween increases `x` by one every 60 ms. If it had also run during the half-second ad, `x` would be 8 higher.
    expect(target.x - before).toBeLessThan((performance.now() - releasedAtMs) / 60 + 4);
    expect(fired).toBe(false);
  });

  it.each([
    ['with the default lag smoothing', undefined],
    ['without lag smoothing', []],
    ['with the game’s own lag smoothing', [10_000, 200]],
  ] as const)('tweens do not move during an ad of any length %s', async (_, smoothing) => {
    await boot();
    if (smoothing) scene.tweens.setLagSmooth(...smoothing);
    const { lagSkip, maxLag } = scene.tweens;
    let movedMs = 0;
    // A step counts from its frame's time, which on a busy machine is long before the step itself.
    let steppedAtMs = performance.now();
    game.events.on('prestep', (frameAtMs: number) => (steppedAtMs = frameAtMs));
    const target = { x: 0 };
    scene.tweens.add({ targets: target, x: 60_000, duration: 60_000 });
    for (const adMs of [20, 200, 700]) {
      await frames(3);
      const before = target.x;
      // What passed since the last step is the game's time, not the ad's.
      const aheadMs = performance.now() - steppedAtMs;
      const release = phaserDriver(game).hold();
      await wait(adMs);
      release();
      movedMs = Math.max(movedMs, target.x - before);
      const releasedAtMs = Date.now();
      await nextStep(game);
      await frames(1);
      const mostMs = aheadMs + Date.now() - releasedAtMs + 2;
      expect(target.x - before, `${adMs} ms`).toBeLessThanOrEqual(mostMs);
    }
    expect(movedMs).toBeLessThan(1);
    expect([scene.tweens.lagSkip, scene.tweens.maxLag]).toEqual([lagSkip, maxLag]);
  });

  it('pauses a sleeping game without waking it', async () => {
    await boot();
    game.loop.sleep();
    const release = phaserDriver(game).hold();
    let steps = 0;
    game.events.on('step', () => (steps += 1));
    release();
    await frames(3);
    expect(steps).toBe(0);
    game.loop.wake();
    await frames(2);
    expect(steps).toBeGreaterThan(0);
  });

  it('pauses a game loop driven by setTimeout', async () => {
    await boot({ fps: { forceSetTimeOut: true } });
    const release = phaserDriver(game).hold();
    let steps = 0;
    game.events.on('step', () => (steps += 1));
    setHidden(true);
    await wait(100);
    setHidden(false);
    await wait(100);
    expect(steps).toBe(0);
    release();
    await nextStep(game);
    expect(steps).toBeGreaterThan(0);
  });

  it('an ad covers a full-screen game and keeps it full-screen', async () => {
    await boot();
    scene.input.on('pointerup', () => scene.scale.startFullscreen());
    await click(game.canvas);
    await eventually(() => expect(document.fullscreenElement).not.toBeNull());
    const release = phaserDriver(game).hold();
    const dialog = document.body.appendChild(document.createElement('dialog'));
    dialog.textContent = 'Ad';
    dialog.showModal();
    const { left, top } = dialog.getBoundingClientRect();
    expect(document.elementFromPoint(left + 2, top + 2)).toBe(dialog);
    dialog.remove();
    release();
    await nextStep(game);
    expect(document.fullscreenElement?.contains(game.canvas)).toBe(true);
    expect(document.activeElement).toBe(game.canvas);
    await document.exitFullscreen();
  });

  it('focuses the canvas after the ad’s focused iframe is removed', async () => {
    await boot();
    const release = phaserDriver(game).hold();
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.focus();
    expect(document.activeElement).toBe(frame);
    frame.remove();
    release();
    expect(document.activeElement).toBe(game.canvas);
    expect(game.hasFocus).toBe(document.hasFocus());
  });

  it('keeps focus on a button to which the overlay restored it', async () => {
    await boot();
    const button = document.body.appendChild(document.createElement('button'));
    const release = phaserDriver(game).hold();
    button.focus();
    release();
    expect(document.activeElement).toBe(button);
    button.remove();
  });

  it('calls back on every step until it is unsubscribed', async () => {
    await boot();
    const driver = phaserDriver(game);
    const release = driver.hold();
    const listenersBefore = game.events.listenerCount('step');
    let calls = 0;
    const stop = driver.onFrame(() => (calls += 1));
    await frames(3);
    expect(calls).toBe(0);
    release();
    await nextStep(game);
    expect(calls).toBe(1);
    stop();
    await nextStep(game);
    expect(calls).toBe(1);
    expect(game.events.listenerCount('step')).toBe(listenersBefore);
  });

  it('a second release() call is a no-op', async () => {
    await boot();
    const release = phaserDriver(game).hold();
    release();
    game.pause();
    release();
    expect(game.isPaused).toBe(true);
  });

  it('release() can be called after the game was destroyed', async () => {
    await boot();
    const release = phaserDriver(game).hold();
    await end?.();
    end = undefined;
    expect(release).not.toThrow();
  });
});
