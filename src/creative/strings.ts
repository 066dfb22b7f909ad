import en from './languages/en.json';

/** The overlay’s strings in one language. */
export interface OverlayStrings {
  /** A BCP 47 language tag. */
  language: string;
  direction: 'ltr' | 'rtl';
  advertisement: string;
  /** Contains `{reward}`, which becomes, for example, `50 coins`. */
  watchFor: string;
  /** Contains `{seconds}`. */
  secondsLeft: string;
  rewardOnItsWay: string;
  close: string;
  skip: string;
  mute: string;
  unmute: string;
  play: string;
  learnMore: string;
  askTitle: string;
  /** Contains `{seconds}`. */
  askText: string;
  keepWatching: string;
  closeAnyway: string;
  thanks: string;
}

/** A translation imported from JSON, in which `direction` has the type `string`. */
export type Translation = Omit<OverlayStrings, 'direction'> & { direction: string };

const english = en satisfies Translation as OverlayStrings;

/**
 * Loads the strings for a locale (`de-AT`, `de_AT`). Returns the English strings if there is no translation or it can't
 * be loaded.
 */
export async function loadStrings(locale: string): Promise<OverlayStrings> {
  // Java and old browsers use legacy codes for Hebrew and Indonesian.
  const tag =
    locale.split(/\W|_/)[0]?.toLowerCase().replace('iw', 'he').replace(/^in$/, 'id') ?? '';
  if (tag === 'en') return english;
  try {
    // This chunk contains the chunk URLs for all languages. It usually loads long before the decision and the media.
    const { languages } = await import('./languages.ts');
    return Object.hasOwn(languages, tag)
      ? (((await languages[tag]?.())?.default as OverlayStrings | undefined) ?? english)
      : english;
  } catch {
    // An ad in English is better than none.
    return english;
  }
}

/** Replaces the `{…}` placeholders in a string. */
export function fillTemplate(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    String(values[name] ?? placeholder),
  );
}
