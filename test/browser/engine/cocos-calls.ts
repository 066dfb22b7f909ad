import { forEach } from './wishes.ts';

interface Sound {
  volume: number;
  play(): void;
  pause(): void;
  stop(): void;
}
interface Pausable {
  pause(): void;
  resume(): void;
}

/** What a game asks of Cocos Creator, the real engine or a fake, and of its sounds. */
export const listCocosCalls = (
  { game, director }: { game: Pausable; director: Pausable },
  sounds: readonly Sound[],
) => ({
  pause: () => game.pause(),
  resume: () => game.resume(),
  'director.pause': () => director.pause(),
  'director.resume': () => director.resume(),
  ...forEach(sounds, {
    play: (sound) => sound.play(),
    pause: (sound) => sound.pause(),
    stop: (sound) => sound.stop(),
    mute: (sound) => (sound.volume = 0),
    unmute: (sound) => (sound.volume = 1),
  }),
});
