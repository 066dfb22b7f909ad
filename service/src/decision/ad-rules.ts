import { createHash } from 'node:crypto';
import type {
  AdLimits,
  AdRule,
  Decision,
  DecisionRequest,
  Placement,
} from '@trueward/protocol/wire';
import { readIdTime } from '../platform/ids.ts';
import { normalizeSegments } from '../platform/names.ts';

/*
 * How many ads a player sees, by the ad rules. Everything here is pure: the player's ads and the time are passed in.
 */

type Format = Placement['format'];
type Session = NonNullable<DecisionRequest['session']>;

/** An ad that the player has seen. */
export interface SeenAd {
  /** The decision. */
  id: string;
  format: Format;
  placement: string;
  /** When the impression was verified, in Unix milliseconds. */
  atMs: number;
}

/** What is known of the player's visit. */
export interface Visit {
  /** Undefined if nothing shows when the session started. */
  startedAtMs: number | undefined;
  /** Newest first. */
  ads: readonly SeenAd[];
}

/** One environment's ad rules. They are compiled after each change. */
export interface AdRules {
  enabled: readonly AdRule[];
  /** The rules for all placements, by format. */
  general: Readonly<Record<Format, readonly AdRule[]>>;
  /** The rules as clients receive them. */
  limits: AdLimits;
  /** Which of an identified player's ads the rules need. Undefined if they need none. */
  record: { formats: readonly Format[]; windowMs: number } | undefined;
}

const sessionGapMs = 1_800_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** Sessions are counted within a day, because devices remember ads for a day. */
const sessionWindowMs = dayMs;

/** How many of a player's ads are read. Rules count at most 100, but other formats can be in between. */
export const maxRecordedAds = 1_000;

/** Compiles the rules. They apply in the order in which they were created. */
export function compileAdRules(rules: readonly AdRule[]): AdRules {
  const enabled = rules.filter((rule) => rule.enabled);
  const limits = enabled.map(
    ({ id: _id, environment: _env, created_at: _at, updated_at: _to, enabled: _on, ...limit }) =>
      limit,
  );
  const version =
    limits.length === 0
      ? ''
      : createHash('sha256').update(JSON.stringify(limits)).digest('base64url').slice(0, 11);
  const windowMs = Math.max(0, ...enabled.map(getWindowMs));
  const formats = enabled
    .filter((rule) => getWindowMs(rule) > 0)
    .flatMap((rule) => [...rule.formats, ...(rule.gap_after ?? [])]);
  const selectGeneral = (format: Format) =>
    enabled.filter((rule) => (rule.placements ?? []).length === 0 && rule.formats.includes(format));
  return {
    enabled,
    general: {
      rewarded: selectGeneral('rewarded'),
      interstitial: selectGeneral('interstitial'),
      banner: selectGeneral('banner'),
    },
    limits: { version, rules: limits },
    record: windowMs > 0 ? { formats: [...new Set(formats)], windowMs } : undefined,
  };
}

/** How long an ad matters to a rule, in milliseconds. */
const getWindowMs = (rule: AdRule): number =>
  Math.max(
    (rule.gap_s ?? 0) * 1_000,
    rule.max_per_hour === undefined ? 0 : hourMs,
    rule.max_per_day === undefined ? 0 : dayMs,
    rule.max_per_session === undefined ? 0 : sessionWindowMs,
  );

/** Returns the rules that can hold a placement's ads back. */
export const selectAdRules = (
  { enabled }: AdRules,
  { format, name }: Pick<Placement, 'format' | 'name'>,
): readonly AdRule[] => enabled.filter((rule) => covers(rule, { format, placement: name }));

const covers = (
  { formats, placements = [] }: AdRule,
  { format, placement }: Pick<SeenAd, 'format' | 'placement'>,
): boolean =>
  formats.includes(format) && (placements.length === 0 || placements.includes(placement));

const isForPlayer = ({ segments = [] }: AdRule, playerSegments: readonly string[]): boolean =>
  segments.length === 0 || segments.some((segment) => playerSegments.includes(segment));

/**
 * By how much a device's word may move an ad that the player's record contains, in milliseconds. The record's times
 * include the network's delay, so a client that asks at the right moment would otherwise be refused.
 */
const maxCorrectionMs = 5_000;

/**
 * Joins what the device says with the player's record. Ads that only the device knows count for interstitials and
 * banners: a client that leaves ads out sees more of them, and wins nothing. Rewarded ads count by the record alone, and
 * a device can only make its session longer, which allows fewer of them.
 */
export function joinVisit(
  format: Format,
  session: Session | undefined,
  record: readonly SeenAd[],
  nowMs: number,
): Visit {
  const ads = new Map(record.map((ad) => [ad.id, ad]));
  for (const { id, format: adFormat, placement, ago_s: agoS } of session?.ads ?? []) {
    const recorded = ads.get(id);
    // An ad can't have been seen before it was decided, whatever the device's clock says.
    const atMs = Math.min(nowMs, Math.max(Math.round(nowMs - agoS * 1_000), readIdTime(id)));
    if (recorded) {
      const { atMs: latestMs } = recorded;
      const correctedMs = Math.min(latestMs, Math.max(latestMs - maxCorrectionMs, atMs));
      ads.set(id, { ...recorded, atMs: correctedMs });
    } else if (format !== 'rewarded') ads.set(id, { id, format: adFormat, placement, atMs });
  }
  const newestFirst = [...ads.values()].sort((a, b) => b.atMs - a.atMs);
  let startedAtMs = Math.round(nowMs - (session?.age_s ?? 0) * 1_000);
  let isKnown = session !== undefined;
  // The visit may have started on another device.
  for (const { atMs } of newestFirst) {
    if (atMs <= startedAtMs - sessionGapMs) break;
    startedAtMs = Math.min(startedAtMs, atMs);
    isKnown = true;
  }
  return { startedAtMs: isKnown ? startedAtMs : undefined, ads: newestFirst };
}

/** Returns when a rule allows the next ad, in Unix milliseconds. `Infinity` means: not in this session. */
function findEndMs(rule: AdRule, { ads, startedAtMs = -Infinity }: Visit): number {
  const { first_after_s: firstS = 0, gap_s: gapS, gap_after: gapAfter } = rule;
  let endMs = startedAtMs + firstS * 1_000;
  let hasGap = gapS === undefined;
  let count = 0;
  for (const ad of ads) {
    const { atMs, format } = ad;
    const isCounted = covers(rule, ad);
    if (!hasGap && (gapAfter ? (gapAfter as Format[]).includes(format) : isCounted)) {
      hasGap = true;
      endMs = Math.max(endMs, atMs + (gapS ?? 0) * 1_000);
    }
    if (!isCounted) continue;
    count += 1;
    if (count === rule.max_per_hour) endMs = Math.max(endMs, atMs + hourMs);
    if (count === rule.max_per_day) endMs = Math.max(endMs, atMs + dayMs);
    if (count === rule.max_per_session && atMs >= startedAtMs) return Infinity;
  }
  return endMs;
}

/**
 * When each rule allows the next ad, in Unix milliseconds, by the rule's id: a rule may be changed during a decision.
 * `Infinity` means: not in this session.
 */
export type RuleEnds = ReadonlyMap<string, number>;

/** Applies the rules that are for the player. A decision needs each rule's answer several times. */
export function findRuleEnds(
  rules: readonly AdRule[],
  visit: Visit,
  segments: readonly string[],
): RuleEnds {
  // A player with this many ads in a day is no honest one, and older ads that count could be missing.
  const oldest = visit.ads[maxRecordedAds - 1];
  const leastMs = oldest ? oldest.atMs + dayMs : -Infinity;
  const ends = new Map<string, number>();
  for (const rule of rules)
    if (isForPlayer(rule, segments)) ends.set(rule.id, Math.max(leastMs, findEndMs(rule, visit)));
  return ends;
}

/** The rule that holds an ad back for the longest time, and when it allows the next one. */
export interface Hold {
  rule: AdRule;
  /** `Infinity` means: not in this session. */
  endMs: number;
}

/** Returns what holds the next ad back, or undefined if the rules allow it now. */
export function findHold(
  rules: readonly AdRule[],
  ends: RuleEnds,
  nowMs: number,
): Hold | undefined {
  let hold: Hold | undefined;
  for (const rule of rules) {
    const endMs = ends.get(rule.id) ?? nowMs;
    if (endMs > (hold?.endMs ?? nowMs)) hold = { rule, endMs };
  }
  return hold;
}

const formats: readonly Format[] = ['rewarded', 'interstitial', 'banner'];

/** Returns when the rules for all placements allow the next ad in each format that has to wait. */
export function findNextTimes(
  { general }: Pick<AdRules, 'general'>,
  ends: RuleEnds,
  nowMs: number,
): Map<Format, number> {
  const times = new Map<Format, number>();
  for (const format of formats) {
    const hold = findHold(general[format], ends, nowMs);
    if (hold && hold.endMs < Infinity) times.set(format, hold.endMs);
  }
  return times;
}

/** Returns the types of timed rewards with which a player sees no such ads, by the rules for the placement. */
export const findFreeingTypes = (
  rules: readonly AdRule[],
  segments: readonly string[] | undefined,
): string[] => {
  const normalSegments = normalizeSegments(segments);
  return rules.flatMap((rule) =>
    rule.ad_free_with !== undefined && isForPlayer(rule, normalSegments) ? [rule.ad_free_with] : [],
  );
};

/** The formats that a user token or an entitlement can free from ads. */
export type AdFreeFormats = readonly Decision['format'][];
