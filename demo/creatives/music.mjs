const rate = 44_100;

/**
 * A slow waltz in G, with a plucked melody over soft chords. Each entry consists of a beat, a note (in semitones from
 * A4) and a length in beats.
 */
const melody = [
  [0, -2, 2], [2, 2, 1], [3, 5, 2], [5, 2, 1], [6, 3, 2], [8, 7, 1], [9, 5, 3],
  [12, 3, 2], [14, 2, 1], [15, 0, 2], [17, -2, 1], [18, -3, 2], [20, 0, 1], [21, -2, 3],
]; // prettier-ignore
const chords = [
  [0, [-26, -14, -10, -7]], [6, [-21, -14, -9, -5]], [12, [-24, -12, -9, -5]],
  [15, [-19, -12, -7, -3]], [18, [-19, -10, -7, -3]], [21, [-26, -14, -10, -7]],
]; // prettier-ignore

const beatSeconds = 0.46;
const frequency = (semitones) => 440 * 2 ** (semitones / 12);

function mixVoice(samples, startSeconds, lengthSeconds, voice) {
  const from = Math.round(startSeconds * rate);
  const count = Math.min(Math.round(lengthSeconds * rate), samples.length - from);
  for (let index = 0; index < count; index += 1) samples[from + index] += voice(index / rate);
}

const pluckString = (pitch) => (t) =>
  0.26 *
  Math.min(1, t / 0.008) *
  Math.exp(-t * 3.2) *
  (Math.sin(2 * Math.PI * pitch * t) + 0.35 * Math.sin(4 * Math.PI * pitch * t) * Math.exp(-t * 5));

const pad = (pitch, length) => (t) =>
  0.06 *
  Math.min(1, t / 0.5, (length - t) / 0.6) *
  (Math.sin(2 * Math.PI * pitch * t) + 0.4 * Math.sin(2 * Math.PI * pitch * 1.003 * t));

/** Returns the tune as a mono 16-bit WAV file. */
export function meadowWaltz(seconds) {
  const samples = new Float64Array(seconds * rate);
  for (const [beat, note] of melody) {
    mixVoice(samples, 0.3 + beat * beatSeconds, 1.8, pluckString(frequency(note)));
  }
  chords.forEach(([beat, notes], index) => {
    const length = ((chords[index + 1]?.[0] ?? 25) - beat) * beatSeconds + 0.5;
    for (const note of notes) {
      mixVoice(samples, 0.2 + beat * beatSeconds, length, pad(frequency(note), length));
    }
  });
  return encodeWav(samples, seconds);
}

function encodeWav(samples, seconds) {
  const file = Buffer.alloc(44 + samples.length * 2);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + samples.length * 2, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, index) => {
    const fade = Math.min(1, (seconds - index / rate) / 0.8);
    const clamped = Math.max(-1, Math.min(1, sample * fade));
    file.writeInt16LE(Math.round(clamped * 32_767), 44 + index * 2);
  });
  return file;
}
