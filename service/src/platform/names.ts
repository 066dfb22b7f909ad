import { domainToASCII } from 'node:url';
import { countryCodes } from '@trueward/protocol/countries';
import { toOneLine } from './one-line.ts';

/*
 * Normal forms of the names that operators and bidders write in different ways. A rule that blocks a name compares normal
 * forms. Otherwise, it would not match, and the ad would be shown. All functions return undefined for a text that is not
 * such a name, so that a rule can't contain it.
 */

const domainPattern =
  /^(?=.{4,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/;
/** As long as a URL in the schemas. */
const maxDomainText = 2_048;

/**
 * Returns a domain in lowercase ASCII, without `www.`. Accepts what people and bidders send instead: a URL such as
 * `https://www.shop.example/`, a wildcard such as `*.shop.example`, a trailing dot, or Unicode.
 */
export function normalizeDomain(text: string): string | undefined {
  if (text.length > maxDomainText) return undefined;
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^(?:https?:)?\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/:\d{0,5}$/, '')
    .replace(/^\*\./, '')
    .replace(/\.$/, '');
  // The URL parser would ignore or decode some of these characters.
  if (/[\s%@:\\*]/.test(host)) return undefined;
  const ascii = domainToASCII(host);
  const domain = ascii.replace(/^(?:www\.)+(?=[^.]+\.)/, '');
  return domainPattern.test(domain) ? domain : undefined;
}

/**
 * Returns an origin as browsers send it: in lowercase ASCII, and without the usual port of its scheme. `*` stands for any
 * origin.
 */
export function normalizeOrigin(text: string): string | undefined {
  if (text === '*') return text;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, href } = new URL(text);
  return href === `${origin}/` ? origin : undefined;
}

const countries: ReadonlySet<string> = new Set(countryCodes);
/** Codes that are used instead of the standard's. */
const countryAliases: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

/** Returns a country's ISO 3166-1 alpha-2 code in uppercase. */
export function normalizeCountry(text: string): string | undefined {
  const code = text.trim().toUpperCase();
  const country = countryAliases[code] ?? code;
  return countries.has(country) ? country : undefined;
}

/**
 * Returns the id of an IAB Content Taxonomy category. Ids of taxonomy 1.0, such as `IAB7-39`, become uppercase; some
 * bidders write `iab7_39` or `IAB07-39`. Ids of later taxonomies, such as `150` or `v9i3On`, stay as they are.
 */
export function normalizeCategory(text: string): string | undefined {
  // Numbers have no leading zeros.
  const id = text.trim().replace(/^0+(?=\d+$)/, '');
  if (/^iab/i.test(id)) {
    const [, group, part] = iabCategory.exec(id) ?? [];
    return group && `IAB${group}${part === undefined ? '' : `-${part}`}`;
  }
  if (!/^[A-Za-z0-9-]{1,32}$/.test(id)) return undefined;
  return /\d/.test(id) || /^[A-Z]{6}$/.test(id) ? id : undefined;
}

const iabCategory = /^IAB0{0,2}([1-9]|1\d|2[0-6])(?:[-_]0{0,2}([1-9]\d{0,2}))?$/i;

/** As long as in requests. */
const maxSegment = 64;

/** Returns a segment, as the game names it, as one visible line. */
export const normalizeSegment = (text: string): string | undefined =>
  text.length > maxSegment ? undefined : toOneLine(text, maxSegment);

/** Returns a player's segments in the form in which they are compared. */
export const normalizeSegments = (texts: readonly string[] = []): string[] =>
  texts.flatMap((text) => normalizeSegment(text) ?? []);

/** Returns a normalized category and the category that includes it: `IAB7-39` is part of `IAB7`. */
export function listCategories(category: string): string[] {
  const [outer = category] = category.split('-', 1);
  return outer === category ? [category] : [category, outer];
}

/** Browsers send these codes for what most people call by the other one. */
const languageAliases: Readonly<Record<string, string>> = { nb: 'no', cmn: 'zh' };
const languageNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
/** Normal forms by text. Players use few different languages. */
const knownLanguages = new Map<string, string | undefined>();
const maxKnownLanguages = 1_000;
const maxLanguageText = 64;

/**
 * Returns a language as a canonical BCP 47 tag. Also accepts an operating system's locale, such as `pt_BR.UTF-8`, and
 * replaces deprecated codes: `iw` becomes `he`.
 */
export function normalizeLanguage(text: string): string | undefined {
  if (text.length > maxLanguageText) return undefined;
  if (knownLanguages.has(text)) return knownLanguages.get(text);
  const language = canonicalizeLanguage(text);
  if (knownLanguages.size === maxKnownLanguages) knownLanguages.clear();
  knownLanguages.set(text, language);
  return language;
}

/**
 * Returns the ways in which a normalized language can be written, in lowercase: with its script and without it. Most
 * browsers say `zh-TW`; some systems say `zh-Hant-TW`, and people who mean it say `zh-Hant`.
 */
export function listLanguageForms(tag: string): string[] {
  try {
    const locale = new Intl.Locale(tag);
    const [language, ...rest] = locale.baseName.split('-');
    const others = rest.filter((part) => part !== locale.script);
    const script = locale.script ?? locale.maximize().script;
    const forms = [tag, [language, ...others].join('-'), [language, script, ...others].join('-')];
    return [...new Set(script === undefined ? [tag] : forms)].map((form) => form.toLowerCase());
  } catch {
    return [tag.toLowerCase()];
  }
}

function canonicalizeLanguage(text: string): string | undefined {
  const [tag = ''] = text.trim().replaceAll('_', '-').split(/[.@]/);
  try {
    const { baseName, language } = new Intl.Locale(tag);
    if (languageNames.of(language) === undefined) return undefined;
    return baseName.replace(/^[a-z]+/, (code) => languageAliases[code] ?? code);
  } catch {
    return undefined;
  }
}
