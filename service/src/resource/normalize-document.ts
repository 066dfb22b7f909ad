import type { FieldError } from '../platform/domain-error.ts';
import { toOneLine } from '../platform/one-line.ts';
import {
  normalizeCategory,
  normalizeCountry,
  normalizeDomain,
  normalizeLanguage,
  normalizeSegment,
} from '../platform/names.ts';
import type { ResourceKind, Stored } from './resource.ts';

/** A kind of names: how they are normalized, and the message for a text that is none. */
interface NameKind {
  normalize(text: string): string | undefined;
  message: string;
}

const domains: NameKind = {
  normalize: normalizeDomain,
  message: 'must be a domain, such as shop.example',
};
const categories: NameKind = {
  normalize: normalizeCategory,
  message: 'must be an IAB Content Taxonomy id, such as IAB7-39',
};
const countries: NameKind = {
  normalize: normalizeCountry,
  message: 'must be an ISO 3166-1 alpha-2 code, such as DE',
};
const languages: NameKind = {
  normalize: normalizeLanguage,
  message: 'must be a BCP 47 language tag, such as pt or pt-BR',
};

const segments: NameKind = {
  normalize: normalizeSegment,
  message: 'must be a segment of up to 64 characters, as the game sends it',
};

/** What people call the object. As long as in the schemas. */
const titles: NameKind = {
  normalize: (text) => toOneLine(text, 200),
  message: 'must contain a visible character',
};
/** Text that may be empty. */
const texts: NameKind = { normalize: (text) => toOneLine(text, 500) ?? '', message: '' };

/**
 * The members with names, by kind of object. Each path leads to a name or to an array of names, and may lead through an
 * array of objects.
 */
const nameMembers: Partial<Record<ResourceKind, readonly [path: readonly string[], NameKind][]>> = {
  policy: [
    [['name'], titles],
    [['when', 'countries'], countries],
    [['when', 'languages'], languages],
    [['when', 'segments'], segments],
    [['block', 'domains'], domains],
    [['block', 'categories'], categories],
  ],
  source: [
    [['name'], titles],
    [['allowed_domains'], domains],
    [['ads_txt', 'domain'], domains],
  ],
  advertiser: [
    [['name'], titles],
    [['domain'], domains],
    [['categories'], categories],
  ],
  creative: [
    [['name'], titles],
    [['alt'], texts],
    [['media', 'captions', 'label'], texts],
    [['categories'], categories],
  ],
  houseAd: [[['name'], titles]],
  adRule: [[['segments'], segments]],
};

/**
 * Brings a document's names into the form with which they are compared, and drops repeated ones. Returns the violations
 * for texts that have no such form: a rule with such a text would never match.
 */
export function normalizeDocument<K extends ResourceKind>(
  kind: K,
  document: Stored<K>,
): { document: Stored<K>; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const normalizeName = ({ normalize, message }: NameKind, text: string, pointer: string) => {
    const name = normalize(text);
    if (name === undefined) errors.push({ pointer, message });
    return name ?? text;
  };
  const normalizeAt = (
    value: unknown,
    path: readonly string[],
    names: NameKind,
    pointer = '',
  ): unknown => {
    const [member, ...rest] = path;
    if (member !== undefined) {
      if (Array.isArray(value))
        return value.map((item, index) => normalizeAt(item, path, names, `${pointer}/${index}`));
      if (typeof value !== 'object' || value === null || !(member in value)) return value;
      const inner = (value as Record<string, unknown>)[member];
      return { ...value, [member]: normalizeAt(inner, rest, names, `${pointer}/${member}`) };
    }
    if (typeof value === 'string') return normalizeName(names, value, pointer);
    if (!Array.isArray(value)) return value;
    const list = value.map((text, index) =>
      normalizeName(names, String(text), `${pointer}/${index}`),
    );
    return [...new Set(list)];
  };
  const normalized = (nameMembers[kind] ?? []).reduce<unknown>(
    (current, [path, names]) => normalizeAt(current, path, names),
    document,
  );
  return { document: normalized as Stored<K>, errors };
}
