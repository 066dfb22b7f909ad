import type { Clock } from '../platform/clock.ts';
import { loadPart } from '../platform/load-part.ts';
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
type Translation = Omit<OverlayStrings, 'direction'> & { direction: string };

export const english = en satisfies Translation as OverlayStrings;

/** The translations, by primary language subtag. Each is loaded only for players who need it. */
const translations: Record<string, () => Promise<{ default: Translation }>> = {
  ar: () => import('./languages/ar.json'),
  de: () => import('./languages/de.json'),
  es: () => import('./languages/es.json'),
  fr: () => import('./languages/fr.json'),
  he: () => import('./languages/he.json'),
  id: () => import('./languages/id.json'),
  it: () => import('./languages/it.json'),
  ja: () => import('./languages/ja.json'),
  ko: () => import('./languages/ko.json'),
  nl: () => import('./languages/nl.json'),
  pl: () => import('./languages/pl.json'),
  pt: () => import('./languages/pt.json'),
  ru: () => import('./languages/ru.json'),
  tr: () => import('./languages/tr.json'),
  uk: () => import('./languages/uk.json'),
  zh: () => import('./languages/zh.json'),
};

/** Returns the import of the translation for a locale (`de-AT`, `de_AT`), or undefined if there is none. */
export function findTranslation(
  locale: string,
): (() => Promise<{ default: Translation }>) | undefined {
  // Java and old browsers use legacy codes for Hebrew and Indonesian.
  const tag =
    locale.split(/\W|_/)[0]?.toLowerCase().replace('iw', 'he').replace(/^in$/, 'id') ?? '';
  return Object.hasOwn(translations, tag) ? translations[tag] : undefined;
}

/** The overlay’s strings in the player's language, once they have loaded. */
export interface OverlayText {
  /** Returns the translated strings. Until they have loaded, returns the English ones. */
  strings(): OverlayStrings;
  /** Resolves when the translation has loaded, or has taken too long: an ad in English is better than none. */
  ready: Promise<void>;
}

/**
 * Starts loading the translation for a locale. The game's own strings (`overrides`) take precedence.
 *
 * @param options.waitMs - How long an ad may wait for the translation, in milliseconds from now.
 * @param options.signal - Aborting it stops loading.
 */
export function loadText(options: {
  locale: string;
  overrides?: Partial<OverlayStrings> | undefined;
  waitMs: number;
  clock: Clock;
  signal: AbortSignal;
}): OverlayText {
  const { clock, overrides, waitMs } = options;
  let language = english;
  const importTranslation = findTranslation(options.locale);
  const ready = importTranslation
    ? new Promise<void>((resolve) => {
        const cancelTimer = clock.after(waitMs, resolve);
        loadPart(importTranslation, 'default', options)
          .then(
            (translation) => (language = translation as OverlayStrings),
            () => undefined,
          )
          .finally(() => {
            cancelTimer();
            resolve();
          });
      })
    : Promise.resolve();
  return { strings: () => ({ ...language, ...overrides }), ready };
}

/** Replaces the `{…}` placeholders in a string. */
export function fillTemplate(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    String(values[name] ?? placeholder),
  );
}
