import type { Policy } from '@trueward/protocol/wire';
import type { Candidate } from './snapshot.ts';

/** What is known of a request when policies look at it. */
export interface PolicyContext {
  language?: string;
  device?: 'desktop' | 'mobile' | 'tablet';
  /** ISO 3166-1 alpha-2. */
  country?: string;
  childDirected: boolean;
  /** Those that the game puts the player in. */
  segments?: readonly string[];
  /** Of the UTC day. */
  hour: number;
}

/** Whether every condition of the policy holds. What is not known fulfils no condition. */
export function applies({ when }: Policy, context: PolicyContext): boolean {
  const includes = (list: readonly string[] | undefined, value: string | undefined) =>
    list === undefined || (value !== undefined && list.includes(value));
  return (
    includes(when.countries, context.country) &&
    (when.languages === undefined ||
      when.languages.some((range) => matchesLanguage(range, context.language))) &&
    includes(when.devices, context.device) &&
    (when.child_directed === undefined || when.child_directed === context.childDirected) &&
    (when.hours === undefined || when.hours.includes(context.hour)) &&
    (when.segments === undefined ||
      when.segments.some((segment) => context.segments?.includes(segment)))
  );
}

/** Basic filtering of RFC 4647: `pt` also means `pt-BR`. */
function matchesLanguage(range: string, language: string | undefined): boolean {
  if (language === undefined) return false;
  const [wanted, given] = [range.toLowerCase(), language.toLowerCase().replaceAll('_', '-')];
  return given === wanted || given.startsWith(`${wanted}-`);
}

/** Whether the policy, where it applies, keeps the candidate from being shown. */
export function blocksCandidate({ block }: Policy, candidate: Candidate): boolean {
  const { creative, advertiserDomain, categories } = candidate;
  return (
    block.everything === true ||
    (block.advertisers?.includes(creative.advertiser_id) ?? false) ||
    (block.sources?.includes(creative.source_id) ?? false) ||
    (block.formats?.includes(creative.media.format) ?? false) ||
    (block.categories?.some((category) => categories.has(category)) ?? false) ||
    (block.domains?.some((domain) => liesUnder(advertiserDomain, domain)) ?? false)
  );
}

const liesUnder = (host: string, domain: string): boolean =>
  host.toLowerCase() === domain.toLowerCase() ||
  host.toLowerCase().endsWith(`.${domain.toLowerCase()}`);
