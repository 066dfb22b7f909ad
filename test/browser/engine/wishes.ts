import * as fc from 'fast-check';
import { expect } from 'vitest';
import { holdInput } from '../../../src/ad-break/hold-input.ts';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { openGate } from '../ad-break/stage-set.ts';

// Random sequences of what a game asks of its engine and its page, before, during and after an ad. Afterward, the game is in
// the same state as without the ad. During the ad, nothing of it runs or sounds, and no key or touch reaches it.

/** A game in its first state, and everything that it may ask for. */
export interface World {
  driver: EngineDriver;
  calls: Record<string, () => void>;
  state(): unknown;
  /** What runs or sounds now. */
  noise(): string[];
  /** Resolves when the engine has done what it was asked. */
  settle?(): Promise<unknown>;
}

interface Sequence {
  before: string[];
  during: string[];
  after: string[];
}

/** Checks random sequences. Every world has the same page, which the game asks for focus and input. */
export async function checkWishes(createWorld: () => World, runs: number): Promise<void> {
  const createWorldOnPage = () => addPage(createWorld());
  const first = createWorldOnPage();
  first.end();
  const names = fc.array(fc.constantFrom(...Object.keys(first.calls)), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ before: names, during: names, after: names }),
      async (sequence) => {
        const { state } = await play(sequence, createWorldOnPage(), false);
        expect(await play(sequence, createWorldOnPage(), true)).toEqual({ noise: [], state });
      },
    ),
    { numRuns: runs },
  );
}

async function play(
  { before, during, after }: Sequence,
  world: World & { end(): void },
  withAd: boolean,
) {
  const noise: string[] = [];
  const make = async (names: string[]): Promise<void> => {
    for (const name of names) {
      world.calls[name]?.();
      await world.settle?.();
    }
  };
  await make(before);
  const release = withAd ? hold(world.driver) : () => {};
  for (const name of withAd ? ['', ...during] : during) {
    await make([name]);
    if (withAd) noise.push(...world.noise().map((what) => `${what} after ${name || 'the start'}`));
  }
  release();
  await world.settle?.();
  await make(after);
  const state = world.state();
  world.end();
  return { noise, state };
}

/** Holds the game and its input, and puts an ad with the focus on top, as an ad break does. */
function hold(driver: EngineDriver): () => void {
  const release = driver.hold();
  const ad = document.createElement('dialog');
  document.body.append(ad);
  ad.showModal();
  const releaseInput = holdInput(ad, driver.focusTarget(), openGate);
  return () => {
    ad.close();
    ad.remove();
    release();
    releaseInput();
  };
}

/** Adds two elements that can have the focus, and listeners that the game adds and removes. */
function addPage(world: World): World & { end(): void } {
  const canvas = world.driver.focusTarget() ?? document.body;
  const field = document.createElement('input');
  document.body.append(field);
  (document.activeElement as HTMLElement | null)?.blur();
  canvas.focus();
  const received: string[] = [];
  const log = ({ type }: Event): void => void received.push(type);
  const types = ['keydown', 'keyup', 'pointerdown', 'pointerup'];
  const listen = () => types.forEach((type) => window.addEventListener(type, log));
  const stopListening = () => types.forEach((type) => window.removeEventListener(type, log));
  /** Presses a key, and touches the game. Returns what has reached the game's listeners. */
  const press = (): string[] => {
    const key = { code: 'KeyA', key: 'a', bubbles: true };
    const touch = { pointerId: 1, pointerType: 'touch', bubbles: true };
    for (const type of ['keydown', 'keyup']) canvas.dispatchEvent(new KeyboardEvent(type, key));
    for (const type of ['pointerdown', 'pointerup'])
      canvas.dispatchEvent(new PointerEvent(type, touch));
    return received.splice(0);
  };
  listen();
  return {
    ...world,
    calls: {
      ...world.calls,
      listen,
      stopListening,
      'canvas.focus': () => canvas.focus(),
      'canvas.blur': () => canvas.blur(),
      'field.focus': () => field.focus(),
      'field.blur': () => field.blur(),
    },
    state: () => [
      world.state(),
      // Where nothing had the focus, the game has it after an ad.
      document.activeElement === field,
      press(),
    ],
    noise: () => [...world.noise(), ...press()],
    end() {
      stopListening();
      field.remove();
    },
  };
}

export const index = [0, 1, 2];

/** Names calls after their object: `a.play`, `b.play`. */
export const forEach = <Thing>(
  things: readonly Thing[],
  calls: Record<string, (thing: Thing) => void>,
): Record<string, () => void> =>
  Object.fromEntries(
    things.flatMap((thing, at) =>
      Object.entries(calls).map(([name, call]) => [`${'abc'[at]}.${name}`, () => call(thing)]),
    ),
  );

/** A second of silence that repeats. */
export function createSilence(): HTMLAudioElement {
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
