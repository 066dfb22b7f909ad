import type { Scene, Sound } from 'phaser';

type Voice = (seconds: number) => number;

const tone = (frequency: number, seconds: number) => Math.sin(2 * Math.PI * frequency * seconds);

const voices: Record<string, { seconds: number; voice: Voice }> = {
  spark: {
    seconds: 0.28,
    voice: (t) => 0.2 * Math.exp(-t * 14) * (tone(988, t) + tone(t > 0.06 ? 1_480 : 1_175, t)),
  },
  out: { seconds: 0.7, voice: (t) => 0.3 * Math.exp(-t * 5) * tone(300 - 190 * t, t) },
  revive: {
    seconds: 0.8,
    voice: (t) =>
      0.16 *
      Math.exp(-t * 3) *
      tone([392, 494, 587, 784][Math.min(3, Math.floor(t / 0.1))] ?? 784, t),
  },
  // Each tone completes a whole number of periods within the loop, so that the loop is seamless.
  night: {
    seconds: 8,
    voice: (t) =>
      0.035 *
      (tone(98, t) +
        tone(147, t) +
        0.6 * tone(196, t) * (1 + tone(0.25, t)) +
        0.3 * tone(294, t) * (1 - tone(0.125, t))),
  },
};

/** Synthesizes the sounds. Without Web Audio, the game is silent. */
export function makeSounds(scene: Scene): void {
  const manager = scene.sound;
  if (!('context' in manager)) return;
  const { context } = manager as Sound.WebAudioSoundManager;
  for (const [key, { seconds, voice }] of Object.entries(voices)) {
    if (scene.cache.audio.exists(key)) continue;
    const buffer = context.createBuffer(1, seconds * context.sampleRate, context.sampleRate);
    const samples = buffer.getChannelData(0);
    for (let index = 0; index < samples.length; index += 1) {
      samples[index] = voice(index / context.sampleRate);
    }
    scene.cache.audio.add(key, buffer);
  }
}

export function playSound(
  scene: Scene,
  key: keyof typeof voices,
  config: { loop?: boolean } = {},
): void {
  if (scene.cache.audio.exists(key)) scene.sound.play(key, config);
}
