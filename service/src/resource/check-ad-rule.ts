import { errorsWhere, type FieldError } from '../platform/domain-error.ts';
import type { Stored } from './resource.ts';

/** A rule that contradicts itself, or that another of its own limits makes pointless, is a mistake. */
export function checkAdRule(rule: Stored<'adRule'>): FieldError[] {
  const { formats, first_after_s, gap_s, gap_after, max_per_session, max_per_hour, max_per_day } =
    rule;
  const { ad_free_with, segments = [] } = rule;
  const limits = [first_after_s, gap_s, max_per_session, max_per_hour, max_per_day];
  const exceeds = (smaller: number | undefined, larger: number | undefined): boolean =>
    smaller !== undefined && larger !== undefined && smaller > larger;
  return errorsWhere(
    [
      ad_free_with === undefined && limits.every((limit) => limit === undefined),
      '',
      'must have at least one of `first_after_s`, `gap_s`, `max_per_session`, `max_per_hour` and `max_per_day`, or `ad_free_with`',
    ],
    [
      ad_free_with !== undefined && limits.some((limit) => limit !== undefined),
      '/ad_free_with',
      'must be in a rule without limits: add another rule for these',
    ],
    [
      ad_free_with !== undefined && formats.includes('rewarded'),
      '/ad_free_with',
      'is not for rewarded ads: players choose to watch them',
    ],
    [
      first_after_s !== undefined && formats.includes('rewarded'),
      '/first_after_s',
      'is not for rewarded ads: only the player’s device knows when a session started',
    ],
    [
      segments.length > 0 && formats.includes('rewarded'),
      '/segments',
      'is not for rewarded ads: only the player’s device says which segments the player has',
    ],
    [gap_after !== undefined && gap_s === undefined, '/gap_after', 'requires `gap_s`'],
    [
      exceeds(max_per_hour, max_per_day),
      '/max_per_hour',
      'must not exceed `max_per_day`, which already limits every hour',
    ],
    [
      exceeds(max_per_session, max_per_day),
      '/max_per_session',
      'must not exceed `max_per_day`, which already limits every session',
    ],
    [
      gap_after === undefined &&
        gap_s !== undefined &&
        allowedBy(gap_s, 3_600) < (max_per_hour ?? 0),
      '/gap_s',
      'leaves no time for `max_per_hour` ads within an hour',
    ],
    [
      gap_after === undefined &&
        gap_s !== undefined &&
        allowedBy(gap_s, 86_400) < (max_per_day ?? 0),
      '/gap_s',
      'leaves no time for `max_per_day` ads within a day',
    ],
  );
}

/** How many ads a gap allows within a period. */
const allowedBy = (gapS: number, periodS: number): number => Math.ceil(periodS / gapS);
