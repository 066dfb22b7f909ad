import type { DisclosedPlayer } from '../disclose.ts';
import { encodeComponent } from '../web-url.ts';

/**
 * The macros of VAST 4.x. A macro of this list that has no value is replaced with `-1`, which means
 * “unknown”; anything else in brackets is part of the URL and stays.
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

/** What changes with every request. */
export interface RequestMoment {
  /** Unix milliseconds. */
  nowMs: number;
  /** From 0 to below 1. */
  random: number;
}

/** Also with percent-encoded brackets, which some servers and every URL builder write. */
const macroForm = /\[([a-z]{2,24})\]|%5B([a-z]{2,24})%5D/gi;
const known: ReadonlySet<string> = new Set(macroNames);
/** Older than the standard's names, and still in use. */
const aliases: Readonly<Record<string, MacroName>> = { RANDOM: 'CACHEBUSTING' };

/** Replaces every macro of VAST in one pass, so that a value that looks like a macro stays a value. */
export function expandMacros(url: string, values: MacroValues, moment: RequestMoment): string {
  const all: MacroValues = {
    TIMESTAMP: timestamp(moment.nowMs),
    CACHEBUSTING: 10_000_000 + Math.floor(moment.random * 90_000_000),
    ...values,
  };
  return url.replace(macroForm, (whole, plain?: string, encoded?: string) => {
    const written = (plain ?? encoded ?? '').toUpperCase();
    const name = aliases[written] ?? written;
    return isMacro(name) ? encode(all[name] ?? -1) : whole;
  });
}

/** What looks like a macro, in capitals, but is none of VAST: probably a slip in a configured tag. */
export function unknownMacros(url: string): string[] {
  const found = url.matchAll(/\[([A-Z][A-Z_]{1,23})\]/g);
  const names = Array.from(found, ([, name = '']) => name);
  return [...new Set(names)].filter((name) => !known.has(name) && aliases[name] === undefined);
}

const isMacro = (name: string): name is MacroName => known.has(name);

/** Lists keep their commas. */
const encode = (value: MacroValue): string =>
  typeof value === 'object' ? value.map(encodeItem).join(',') : encodeItem(value);

const encodeItem = (item: string | number): string => encodeComponent(String(item));

/** `2026-11-22T08:15:07.127+00`, the form that VAST 4 prescribes. */
const timestamp = (nowMs: number): string => new Date(nowMs).toISOString().replace('Z', '+00');

/** The player and its page. What is absent is sent as unknown. */
export interface MacroContext {
  player: DisclosedPlayer;
  /** This service, as `name/version (URL)`. */
  serverUserAgent?: string;
  domain?: string;
  pageUrl?: string;
  /** A UUID that is the same in every request of a decision. */
  transactionId?: string;
  /** CSS pixels. */
  playerSize?: { width: number; height: number };
  minDurationS?: number;
  maxDurationS?: number;
  blockedCategories?: readonly string[];
}

/** The macros of a request for a rewarded ad that this service makes on behalf of a player. */
export function requestMacros(context: MacroContext): MacroValues {
  const { player, playerSize, blockedCategories = [] } = context;
  const regulations = [player.childDirected ? 'coppa' : [], player.gdpr ? 'gdpr' : []].flat();
  return dropUndefined({
    ADCOUNT: 1,
    // No framework is supported. Versions by their numbers in AdCOM: 2.0 to 4.2, and their wrappers.
    APIFRAMEWORKS: -1,
    VASTVERSIONS: [2, 3, 5, 6, 7, 8, 11, 12, 13, 14],
    MEDIAMIME: ['video/mp4', 'video/webm'],
    BREAKMAXADS: 1,
    BREAKMINADLENGTH: context.minDurationS,
    BREAKMAXADLENGTH: context.maxDurationS,
    BREAKMAXDURATION: context.maxDurationS,
    BLOCKEDADCATEGORIES: blockedCategories.length > 0 ? blockedCategories : undefined,
    // The player asked for the ad, and a server requests it for them.
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

const dropUndefined = (values: Partial<Record<MacroName, MacroValue | undefined>>): MacroValues =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
