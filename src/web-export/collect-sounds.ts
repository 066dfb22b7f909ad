import { toList } from '../platform/guard.ts';

type Sound = AudioContext | HTMLAudioElement;

const names = ['AudioContext', 'webkitAudioContext', 'Audio'] as const;

/**
 * Remembers every audio context and every `new Audio()` that the page creates from now on. Returns a function that lists
 * those that still exist: such an element isn't part of the page, so it can't be found in any other way.
 */
export function collectSounds(): () => Sound[] {
  const references = new Set<WeakRef<Sound>>();
  const registry = new FinalizationRegistry<WeakRef<Sound>>((reference) => {
    references.delete(reference);
  });
  const page = globalThis as unknown as Record<string, (new () => Sound) | undefined>;
  for (const name of names) {
    const original = page[name];
    if (!original) continue;
    page[name] = new Proxy(original, {
      construct(target, args, newTarget) {
        const sound = Reflect.construct(target, args, newTarget) as Sound;
        const reference = new WeakRef(sound);
        references.add(reference);
        registry.register(sound, reference);
        return sound;
      },
    });
  }
  return () =>
    toList(references)
      .map((reference) => reference.deref())
      .filter((sound) => sound !== undefined);
}
