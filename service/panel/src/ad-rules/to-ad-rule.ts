import type { AdRule } from '@trueward/protocol/wire';
import { omitEmpty } from '../api/changes.ts';

type Fields = Record<string, unknown>;

/** Converts form values to an ad rule. Cleared fields and lists are dropped: they limit nothing. */
export function toAdRule(values: Fields): Partial<AdRule> & Fields {
  const { etag: _etag, ...fields } = omitEmpty(values);
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => !(Array.isArray(value) && value.length === 0)),
  );
}

/** The rules for an environment’s first interstitial, which the guidelines of the large portals accept. */
export const recommendedRules: readonly Pick<
  AdRule,
  'formats' | 'first_after_s' | 'gap_s' | 'gap_after'
>[] = [
  { formats: ['interstitial'], first_after_s: 60, gap_s: 120 },
  { formats: ['interstitial'], gap_s: 60, gap_after: ['rewarded'] },
];
