import type { AdLimit } from './wire.ts';

const plurals: Readonly<Record<string, string>> = {
  rewarded: 'rewarded ads',
  interstitial: 'interstitials',
  banner: 'banners',
};
const singulars: Readonly<Record<string, string>> = {
  rewarded: 'rewarded ad',
  interstitial: 'interstitial',
  banner: 'banner',
};

const list = (items: readonly string[], word: 'and' | 'or'): string =>
  items.length < 2
    ? items.join('')
    : `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1) ?? ''}`;

/** Formats a duration in the largest unit that divides it: `90 seconds`, `2 minutes`, `1 hour`. */
function formatSeconds(seconds: number): string {
  const [size, unit] =
    seconds % 3_600 === 0 ? [3_600, 'hour'] : seconds % 60 === 0 ? [60, 'minute'] : [1, 'second'];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/**
 * Describes an ad rule in one sentence, such as “No interstitial in a player’s first 60 seconds, and at least 2 minutes
 * between interstitials.” Accepts a rule that is still being edited.
 */
export function describeAdRule(rule: Partial<AdLimit>): string {
  const { formats = [], placements = [], segments = [], gap_after: after = [] } = rule;
  const ads = list(
    formats.map((format) => plurals[format] ?? format),
    'and',
  );
  const ad = list(
    formats.map((format) => singulars[format] ?? format),
    'or',
  );
  const { first_after_s: first, gap_s: gap, ad_free_with: freeWith } = rule;
  const gapText =
    after.length === 0
      ? `between ${ads}`
      : `after ${list(
          after.map((format) => `${format === 'interstitial' ? 'an' : 'a'} ${singulars[format]}`),
          'or',
        )}, before the next ${ad}`;
  const counts = [
    [rule.max_per_session, 'a session'],
    [rule.max_per_hour, 'an hour'],
    [rule.max_per_day, 'a day'],
  ] as const;
  const clauses = [
    ...(freeWith ? [`no ${ad} while the player has ${freeWith} in the wallet`] : []),
    ...(first ? [`no ${ad} in a session’s first ${formatSeconds(first)}`] : []),
    ...(gap ? [`at least ${formatSeconds(gap)} ${gapText}`] : []),
    ...counts.flatMap(([max, period]) =>
      max ? [`at most ${max} ${max === 1 ? ad : ads} ${period}`] : [],
    ),
  ];
  if (ads === '' || clauses.length === 0) return 'Choose formats and at least one limit.';
  const where = placements.length > 0 ? `in ${list(placements, 'and')}: ` : '';
  const who =
    segments.length > 0 ? ` (only for players in the segment ${list(segments, 'or')})` : '';
  const sentence = `${where}${clauses.join('; ')}${who}.`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
