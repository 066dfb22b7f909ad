const names = ['AudioContext', 'webkitAudioContext'] as const;

/** Returns a list to which every audio context is added that the page creates from now on. */
export function collectAudioContexts(): AudioContext[] {
  const contexts: AudioContext[] = [];
  const page = globalThis as unknown as Record<string, typeof AudioContext | undefined>;
  for (const name of names) {
    const original = page[name];
    if (!original) continue;
    page[name] = new Proxy(original, {
      construct(target, args, newTarget) {
        const context = Reflect.construct(target, args, newTarget) as AudioContext;
        contexts.push(context);
        return context;
      },
    });
  }
  return contexts;
}
