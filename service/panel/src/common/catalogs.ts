import { countryCodes } from '@trueward/protocol/countries';

/** A choice in a list: the stored id, and the name that is shown. */
export interface Choice {
  id: string;
  name: string;
}

const byName = (a: Choice, b: Choice): number => a.name.localeCompare(b.name, 'en');

const regionNames = new Intl.DisplayNames(['en'], { type: 'region' });
const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

/** Returns a country's name; the code itself if it is unknown. */
export const getCountryName = (code: string): string =>
  /^[A-Z]{2}$/.test(code) ? (regionNames.of(code) ?? code) : code;

/** Returns a language's name, such as `Portuguese (Brazil)`; the tag itself if it is none. */
export function getLanguageName(tag: string): string {
  try {
    return languageNames.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** The countries, by name. */
export const countries: readonly Choice[] = countryCodes
  .map((id) => ({ id, name: getCountryName(id) }))
  .toSorted(byName);

/** The languages in which games are published most often, by name. Others can be typed as BCP 47 tags. */
export const languages: readonly Choice[] = (
  'ar bg bn ca cs da de el en es et fa fi fil fr he hi hr hu id it ja ko lt lv ms nl no pl pt pt-BR ro ru sk sl sr sv ' +
  'sw ta th tr uk ur vi zh zh-TW'
)
  .split(' ')
  .map((id) => ({ id, name: getLanguageName(id) }))
  .toSorted(byName);

/** The names of the first tier of the IAB Content Taxonomy 1.0, whose ids are `IAB1` to `IAB26`. */
const categoryNames = [
  'Arts & entertainment',
  'Automotive',
  'Business',
  'Careers',
  'Education',
  'Family & parenting',
  'Health & fitness',
  'Food & drink',
  'Hobbies & interests',
  'Home & garden',
  'Law, government & politics',
  'News',
  'Personal finance',
  'Society',
  'Science',
  'Pets',
  'Sports',
  'Style & fashion',
  'Technology & computing',
  'Travel',
  'Real estate',
  'Shopping',
  'Religion & spirituality',
  'Uncategorized',
  'Non-standard content',
  'Illegal content',
];

/** The categories, by name. Others can be typed as ids. */
export const categories: readonly Choice[] = categoryNames
  .map((name, index) => ({ id: `IAB${index + 1}`, name }))
  .toSorted(byName);

/** Returns a category's name. A subcategory has its group's name and its id: `Health & fitness (IAB7-39)`. */
export function getCategoryName(id: string): string {
  const [group = ''] = id.split('-', 1);
  const name = categories.find((category) => category.id === group)?.name;
  if (name === undefined) return id;
  return group === id ? name : `${name} (${id})`;
}

/** Whether a text can be the id of a category of one of the taxonomies, such as `IAB7-39`, `150` or `v9i3On`. */
export const isCategoryId = (text: string): boolean =>
  /^IAB0{0,2}(?:[1-9]|1\d|2[0-6])(?:[-_]0{0,2}[1-9]\d{0,2})?$/i.test(text) ||
  (!/^iab/i.test(text) && /^(?=.*\d)[A-Za-z0-9-]{1,32}$/.test(text)) ||
  /^[A-Z]{6}$/.test(text);

/** Whether a text can be a language tag, such as `de` or `pt-BR`, of a language that has a name. */
export function isLanguage(text: string): boolean {
  try {
    const { language } = new Intl.Locale(text);
    return languageNames.of(language) !== language;
  } catch {
    return false;
  }
}
