import { expect, test, vi } from 'vitest';
import { addWish, postponeCalls, type Wish } from '../../../src/engine/postponed-calls.ts';
import { native } from '../../../src/platform/native.ts';

class Sound {
  log: string[] = [];
  isValid = true;
  play(volume = 1): string {
    this.log.push(`play ${volume}`);
    return 'playing';
  }
  pause(): void {
    this.log.push('pause');
  }
}

test('calls are made in order when the ad has ended, also those of objects made during the ad', () => {
  const old = new Sound();
  const calls = postponeCalls();
  calls.postpone(Sound.prototype, ['play', 'pause'], {
    result: () => 'later',
    applies: ({ isValid }) => isValid,
  });
  const [made, gone] = [new Sound(), new Sound()];
  expect([old.play(0.5), made.play()]).toEqual(['later', 'later']);
  old.pause();
  gone.play();
  gone.isValid = false;
  expect(gone.play()).toBe('playing');
  expect([old.log, made.log, gone.log]).toEqual([[], [], ['play 1']]);
  calls.release();
  calls.replay();
  calls.replay();
  expect([old.log, made.log, gone.log]).toEqual([['play 0.5', 'pause'], ['play 1'], ['play 1']]);
  expect(old.play(0.1)).toBe('playing');
});

test('the engine’s own methods are back afterward, also if they were the object’s own or the game wrapped them', () => {
  const own = { pause: () => 'paused' };
  const { pause } = own;
  const { play } = Sound.prototype;
  const wrapped = new Sound();
  const calls = postponeCalls();
  calls.postpone(own, ['pause']);
  calls.postpone(Sound.prototype, ['play']);
  calls.postpone(wrapped, ['pause']);
  const inner = wrapped.pause.bind(wrapped);
  wrapped.pause = () => inner();
  calls.release();
  expect(own.pause).toBe(pause);
  expect(Sound.prototype.play).toBe(play);
  wrapped.pause();
  expect(wrapped.log).toEqual(['pause']);
  calls.replay();
  expect(wrapped.log).toEqual(['pause']);
});

test('a call that throws is reported, and the others are made', () => {
  const report = vi.spyOn(native, 'queueMicrotask').mockImplementation(() => {});
  const sound = new Sound();
  const broken = {
    play() {
      throw new Error('no device');
    },
  };
  const calls = postponeCalls();
  calls.postpone(broken, ['play']);
  calls.postpone(sound, ['play']);
  broken.play();
  sound.play();
  calls.release();
  calls.replay();
  expect(sound.log).toEqual(['play 1']);
  expect(report).toHaveBeenCalledOnce();
});

test('a wish that repeats the last one for its subject replaces it', () => {
  const [music, shot] = [{}, {}];
  const act = () => {};
  let wishes: Wish[] = [];
  for (const [subject, name] of [
    [music, 'play'],
    [shot, 'play'],
    [music, 'play'],
    [music, 'pause'],
    [shot, 'play'],
    [music, 'play'],
  ] as const)
    wishes = addWish(wishes, { subject, name, act });
  expect(
    wishes.map(({ name, subject }) => `${name} ${subject === music ? 'music' : 'shot'}`),
  ).toEqual(['play music', 'pause music', 'play shot', 'play music']);
});
