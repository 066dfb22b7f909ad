import type { Translation } from './strings.ts';

/** Each language is a separate chunk, keyed by its primary subtag. English is bundled with the overlay. */
export const languages: Record<string, () => Promise<{ default: Translation }>> = {
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
