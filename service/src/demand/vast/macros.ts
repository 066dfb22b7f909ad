import type { DisclosedPlayer } from '../disclose.ts';
import { encodeComponent } from '../web-url.ts';
import { withoutUndefined } from './values.ts';

/**
 * VAST 4.x macros. A macro in this list that has no value is replaced with `-1`, which means “unknown”. Other text in
 * brackets is part of the URL and stays unchanged.
 */
const macroNames = [
  'ADCATEGORIES',
  'ADCOUNT',
  'ADPLAYHEAD',
  'ADSERVINGID',
  'ADTYPE',
  'APIFRAMEWORKS',
  'APPBUNDLE',
  'ASSETURI',
  'BLOCKEDADCATEGORIES',
  'BREAKMAXADLENGTH',
  'BREAKMAXADS',
  'BREAKMAXDURATION',
  'BREAKMINADLENGTH',
  'BREAKMINDURATION',
  'BREAKPOSITION',
  'CACHEBUSTING',
  'CLICKPOS',
  'CLICKTYPE',
  'CLIENTUA',
  'CONTENTCAT',
  'CONTENTID',
  'CONTENTPLAYHEAD',
  'CONTENTURI',
  'DEVICEIP',
  'DEVICEUA',
  'DOMAIN',
  'DSAPARAMS',
  'DSAPUBRENDER',
  'DSAREQUIRED',
  'ERRORCODE',
  'EXTENSIONS',
  'GDPRCONSENT',
  'GPPSECTIONID',
  'GPPSTRING',
  'IFA',
  'IFATYPE',
  'INVENTORYSTATE',
  'LATLONG',
  'LIMITADTRACKING',
  'MEDIAMIME',
  'MEDIAPLAYHEAD',
  'OMIDPARTNER',
  'PAGEURL',
  'PLACEMENTTYPE',
  'PLAYBACKMETHODS',
  'PLAYERCAPABILITIES',
  'PLAYERSIZE',
  'PLAYERSTATE',
  'PODSEQUENCE',
  'REASON',
  'REGULATIONS',
  'SERVERSIDE',
  'SERVERUA',
  'STOREID',
  'STOREURL',
  'TIMESTAMP',
  'TRANSACTIONID',
  'UNIVERSALADID',
  'VASTVERSIONS',
  'VERIFICATIONVENDORS',
] as const;

export type MacroName = (typeof macroNames)[number];
type MacroValue = string | number | readonly (string | number)[];
export type MacroValues = Readonly<Partial<Record<MacroName, MacroValue>>>;

/** Macro values that differ between requests. */
export interface PerRequestValues {
  /** Unix milliseconds. */
  nowMs: number;
  /** In [0, 1). */
  random: number;
}

/** Also matches percent-encoded brackets, because URL builders and some ad servers produce them. */
const macroPattern = /\[([a-z]{2,24})\]|%5B([a-z]{2,24})%5D/gi;
const knownNames: ReadonlySet<string> = new Set(macroNames);
/** Names that predate the standard but are still in use. */
const aliases: Readonly<Record<string, MacroName>> = { RANDOM: 'CACHEBUSTING' };

/** Expands all VAST macros in a single pass, so that a value that looks like a macro is not expanded again. */
export function expandMacros(
  url: string,
  values: MacroValues,
  { nowMs, random }: PerRequestValues,
): string {
  const allValues: MacroValues = {
    TIMESTAMP: formatTimestamp(nowMs),
    CACHEBUSTING: 10_000_000 + Math.floor(random * 90_000_000),
    ...values,
  };
  return url.replace(macroPattern, (macro, plain?: string, encoded?: string) => {
    const rawName = (plain ?? encoded ?? '').toUpperCase();
    const name = aliases[rawName] ?? rawName;
    return isMacro(name) ? encodeValue(allValues[name] ?? -1) : macro;
  });
}

/** Returns names that look like macros but aren't VAST macros. They are probably typos in a configured tag. */
export function findUnknownMacros(url: string): string[] {
  const matches = url.matchAll(/\[([A-Z][A-Z_]{1,23})\]/g);
  const names = Array.from(matches, ([, name = '']) => name);
  return [...new Set(names)].filter((name) => !knownNames.has(name) && aliases[name] === undefined);
}

const isMacro = (name: string): name is MacroName => knownNames.has(name);

/** Encodes each item in a list, but not the commas between them. */
const encodeValue = (value: MacroValue): string =>
  typeof value === 'object' ? value.map(encodeItem).join(',') : encodeItem(value);

const encodeItem = (item: string | number): string => encodeComponent(String(item));

/** Formats a time as specified by VAST 4: `2026-11-22T08:15:07.127+00`. */
const formatTimestamp = (nowMs: number): string =>
  new Date(nowMs).toISOString().replace('Z', '+00');

/** Data about the player and the page. Macros without a value are sent as unknown. */
export interface MacroContext {
  player: DisclosedPlayer;
  /** This service, as `name/version (URL)`. */
  serverUserAgent?: string;
  domain?: string;
  pageUrl?: string;
  /** A UUID shared by all of a decision's requests. */
  transactionId?: string;
  /** CSS pixels. */
  playerSize?: { width: number; height: number };
  minDurationS?: number;
  maxDurationS?: number;
  blockedCategories?: readonly string[];
}

/** Returns macro values for a rewarded-ad request that this service makes on behalf of a player. */
export function makeRequestMacros(context: MacroContext): MacroValues {
  const { player, playerSize, blockedCategories = [] } = context;
  const regulations = [player.childDirected ? 'coppa' : [], player.gdpr ? 'gdpr' : []].flat();
  return withoutUndefined({
    ADCOUNT: 1,
    // No API framework is supported. The versions are AdCOM numbers for VAST 2.0 to 4.2 and their wrappers.
    APIFRAMEWORKS: -1,
    VASTVERSIONS: [2, 3, 5, 6, 7, 8, 11, 12, 13, 14],
    MEDIAMIME: ['video/mp4', 'video/webm'],
    BREAKMAXADS: 1,
    BREAKMINADLENGTH: context.minDurationS,
    BREAKMAXADLENGTH: context.maxDurationS,
    BREAKMAXDURATION: context.maxDurationS,
    BLOCKEDADCATEGORIES: blockedCategories.length > 0 ? blockedCategories : undefined,
    // The player opted in to the ad, and the ad is requested server-side.
    INVENTORYSTATE: ['optin'],
    SERVERSIDE: 1,
    SERVERUA: context.serverUserAgent,
    DEVICEIP: player.ip,
    DEVICEUA: player.userAgent,
    DOMAIN: context.domain,
    PAGEURL: context.pageUrl,
    TRANSACTIONID: context.transactionId,
    LIMITADTRACKING: player.limitAdTracking ? 1 : 0,
    REGULATIONS: regulations.length > 0 ? regulations : undefined,
    GDPRCONSENT: player.tcfString,
    GPPSTRING: player.gppString,
    PLAYERSIZE: playerSize && [playerSize.width, playerSize.height],
  });
}
