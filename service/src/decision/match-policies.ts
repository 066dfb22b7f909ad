import type { Policy } from '@trueward/protocol/wire';
import { BoundedMap } from '../platform/bounded-map.ts';
import { memoize } from '../platform/memoize.ts';
import { listLanguageForms, normalizeLanguage } from '../platform/names.ts';
import type { Ad } from './snapshot.ts';

/** Request properties that policies can match. */
export interface PolicyContext {
  language?: string;
  device?: 'desktop' | 'mobile' | 'tablet';
  /** ISO 3166-1 alpha-2 code. */
  country?: string;
  childDirected: boolean;
  /** The player's segments, as reported by the game. */
  segments?: readonly string[];
  /** Hour of the day in UTC. */
  hour: number;
}

/**
 * The lists of a policy, for lookups. An account can have many policies with long lists. If each decision searched them,
 * one account's configuration would slow down everybody's decisions.
 */
interface Lists {
  countries: ReadonlySet<string> | undefined;
  languages: ReadonlySet<string> | undefined;
  devices: ReadonlySet<string> | undefined;
  hours: ReadonlySet<number> | undefined;
  segments: ReadonlySet<string> | undefined;
  advertisers: ReadonlySet<string>;
  sources: ReadonlySet<string>;
  categories: ReadonlySet<string>;
  domains: ReadonlySet<string>;
}

/** Policies never change: a change to the configuration creates new ones. */
const listsOf = memoize(({ when, block }: Policy): Lists => ({
  countries: conditionOn(when.countries),
  languages: conditionOn(when.languages?.map((range) => range.toLowerCase())),
  devices: conditionOn(when.devices),
  hours: conditionOn(when.hours),
  segments: conditionOn(when.segments),
  advertisers: new Set(block.advertisers),
  sources: new Set(block.sources),
  categories: new Set(block.categories),
  domains: new Set(block.domains?.map((domain) => domain.toLowerCase())),
}));

/** An empty list is no condition. Otherwise, a policy would silently never apply. */
const conditionOn = <T>(list: readonly T[] | undefined): ReadonlySet<T> | undefined =>
  list === undefined || list.length === 0 ? undefined : new Set(list);

/** Returns the policies whose conditions the request meets. A condition on an unknown property isn't met. */
export function selectApplicable(policies: readonly Policy[], context: PolicyContext): Policy[] {
  if (policies.length === 0) return [];
  const ranges = context.language === undefined ? [] : listRanges(context.language);
  return policies.filter((policy) => {
    const { when } = policy;
    const { countries, languages, devices, hours, segments } = listsOf(policy);
    return (
      (countries === undefined || countries.has(context.country ?? '')) &&
      (languages === undefined || ranges.some((range) => languages.has(range))) &&
      (devices === undefined || devices.has(context.device ?? '')) &&
      (when.child_directed === undefined || when.child_directed === context.childDirected) &&
      (hours === undefined || hours.has(context.hour)) &&
      (segments === undefined ||
        (context.segments?.some((segment) => segments.has(segment)) ?? false))
    );
  });
}

/** Ranges by language. Players use few different languages. */
const knownRanges = new BoundedMap<string, readonly string[]>(1_000);

/**
 * Lists the language ranges that match a language by basic filtering (RFC 4647, 3.3.1), however it is written: `zh-TW`
 * matches `zh-tw`, `zh-hant` and `zh`.
 */
function listRanges(language: string): readonly string[] {
  const known = knownRanges.get(language);
  if (known) return known;
  // An unknown locale is compared as it is.
  const tag = normalizeLanguage(language) ?? language.replaceAll('_', '-');
  const ranges = listLanguageForms(tag).flatMap((form) => listPrefixes(form, '-', maxParts));
  knownRanges.set(language, ranges);
  return ranges;
}

/** Host names have at most 127 labels, and no language has more than ten subtags. */
const maxParts = 127;

/** Lists the beginnings of a text that end before a separator, and the text itself. */
function listPrefixes(text: string, separator: string, max: number): string[] {
  const parts = text.split(separator, max);
  return parts.map((_, index) => parts.slice(0, index + 1).join(separator));
}

/** Lists a host and the domains that include it: `a.b.example`, `b.example` and `example`. */
function listDomains(host: string): string[] {
  const labels = host.toLowerCase().split('.').slice(-maxParts);
  return labels.map((_, index) => labels.slice(index).join('.'));
}

const domainsOf = memoize((ad: Ad): string[] => listDomains(ad.advertiserDomain));

/** Whether an applicable policy blocks the ad. */
function blocksAd(policy: Policy, ad: Ad): boolean {
  const { block } = policy;
  const { advertisers, sources, categories, domains } = listsOf(policy);
  const { creative } = ad;
  return (
    block.everything === true ||
    advertisers.has(creative.advertiser_id) ||
    sources.has(creative.source_id) ||
    (block.formats?.includes(creative.media.format) ?? false) ||
    (categories.size > 0 && [...ad.categories].some((category) => categories.has(category))) ||
    (domains.size > 0 && domainsOf(ad).some((domain) => domains.has(domain)))
  );
}

/** Whether the policy blocks everything from the source. */
export const blocksSource = (policy: Policy, sourceId: string): boolean =>
  listsOf(policy).sources.has(sourceId);

/**
 * Whether the policy blocks ads by what they show. An ad that an ad SDK in the page chooses can't be checked against it.
 */
export const blocksContent = ({ block }: Policy): boolean =>
  [block.advertisers, block.categories, block.domains, block.formats].some(
    (list) => list !== undefined && list.length > 0,
  );

/**
 * Returns the policies that block the ad if they apply. They depend on the configuration only, so they are determined
 * once per list of policies.
 */
const blockersOf = memoize((policies: readonly Policy[]) =>
  memoize((ad: Ad): readonly Policy[] => policies.filter((policy) => blocksAd(policy, ad))),
);

/**
 * Returns the first of the applicable policies that blocks the ad.
 *
 * @param policies the placement's policies, in evaluation order
 */
export const findBlocker = (
  policies: readonly Policy[],
  applicable: ReadonlySet<Policy>,
  ad: Ad,
): Policy | undefined =>
  applicable.size === 0
    ? undefined
    : blockersOf(policies)(ad).find((policy) => applicable.has(policy));
