import ipaddr from 'ipaddr.js';
import type { DisclosedPlayer } from '../disclose.ts';
import { cpmOf } from './price.ts';

export type OpenRtbVersion = '2.5' | '2.6';

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** What may not be bought. Lists are those of the policies. */
export interface Blocked {
  /** Domains; their subdomains are blocked too. */
  advertisers: readonly string[];
  /** Codes of the IAB Content Taxonomy 1.0. */
  categories: readonly string[];
  seats: readonly string[];
  /** Creative attributes of AdCOM. */
  attributes: readonly number[];
}

/** One hop of the payment chain, as in the ads.txt of the site. */
export interface SupplyChainNode {
  /** Domain of the advertising system. */
  asi: string;
  /** The seller's id there. */
  sid: string;
}

/** What a request for one rewarded ad says. */
export interface BidRequestFacts {
  /** Unique; the response has to repeat it. */
  id: string;
  version: OpenRtbVersion;
  /** In the sandbox: the auction costs nothing. */
  isTest: boolean;
  timeoutMs: number;
  /** The name of the placement. */
  placement: string;
  floorMicros: number;
  /** ISO 4217. */
  currency: string;
  /** How long after the auction the ad may be shown. */
  showWithinS: number;
  /** Name and version of the player. */
  displayManager: { name: string; version: string };
  /** CSS pixels. */
  playerSize?: { width: number; height: number };
  minDurationS: number;
  maxDurationS: number;
  site: { domain?: string; page?: string; publisherId?: string };
  player: DisclosedPlayer;
  /** The same for all sources of a decision. */
  transactionId: string;
  supplyChain: readonly SupplyChainNode[];
  blocked: Blocked;
  /** Merged into the request: what this bidder needs beyond the standard. */
  ext?: JsonObject;
}

/** There is one impression in every request. */
export const impressionId = '1';

/** AdCOM: VAST 2.0 to 4.2 and their wrappers. Later versions have no number that bidders know. */
const protocols = [2, 3, 5, 6, 7, 8, 11, 12, 13, 14];

/** Builds the body of a request. Members without a value are left out. */
export function buildBidRequest(facts: BidRequestFacts): JsonObject {
  const { site, player, blocked } = facts;
  const promoted = promotedIn26(facts.version);
  const built = prune({
    id: facts.id,
    imp: [buildImpression(facts)],
    site: { domain: site.domain, page: site.page, publisher: { id: site.publisherId } },
    device: {
      ua: player.userAgent,
      ...ipMember(player.ip),
      language: languageCode(player.language),
      lmt: player.limitAdTracking ? 1 : 0,
    },
    user: { id: player.userId, ...promoted({ consent: player.tcfString }) },
    regs: {
      coppa: player.childDirected ? 1 : 0,
      ...promoted({
        gdpr: player.gdpr === undefined ? undefined : Number(player.gdpr),
        gpp: player.gppString,
      }),
    },
    source: {
      fd: 1,
      tid: facts.transactionId,
      ...promoted({ schain: buildSupplyChain(facts.supplyChain) }),
    },
    // First price: what is bid is what is paid.
    at: 1,
    tmax: facts.timeoutMs,
    cur: [facts.currency],
    test: facts.isTest ? 1 : 0,
    bseat: nonEmpty(blocked.seats),
    bcat: nonEmpty(blocked.categories),
    badv: nonEmpty(blocked.advertisers),
  });
  const request = facts.ext ? merge(built, facts.ext) : built;
  return { ...request, ...matchedByResponse(facts.id, request) };
}

/** An extension must not change what the response is matched by. */
function matchedByResponse(id: string, { imp }: JsonObject): JsonObject {
  const [impression] = Array.isArray(imp) ? imp : [];
  return { id, imp: [{ ...(isObject(impression) && impression), id: impressionId }] };
}

function buildImpression(facts: BidRequestFacts): Draft {
  const { version, displayManager, playerSize } = facts;
  return {
    id: impressionId,
    tagid: facts.placement,
    displaymanager: displayManager.name,
    displaymanagerver: displayManager.version,
    bidfloor: cpmOf(facts.floorMicros),
    bidfloorcur: facts.currency,
    secure: 1,
    instl: 1,
    exp: facts.showWithinS,
    ...(version === '2.6'
      ? // Assets come from this service, and it requests the trackers.
        { rwdd: 1, ssai: 3 }
      : // As Prebid Server reads it. For other bidders of 2.5, see `ext`.
        { ext: { prebid: { is_rewarded_inventory: 1 } } }),
    video: {
      mimes: ['video/mp4', 'video/webm'],
      minduration: facts.minDurationS,
      maxduration: facts.maxDurationS,
      protocols,
      w: playerSize?.width,
      h: playerSize?.height,
      startdelay: 0,
      // Interstitial, linear, not skippable, started by a click with sound on, downloaded as a whole.
      ...(version === '2.6' ? { plcmt: 3 } : { placement: 5 }),
      linearity: 1,
      skip: 0,
      playbackmethod: [3],
      delivery: [2],
      battr: nonEmpty(facts.blocked.attributes),
    },
  };
}

/** Members that 2.6 moved from `ext` into the object itself. */
const promotedIn26 =
  (version: OpenRtbVersion) =>
  (members: Draft): Draft =>
    version === '2.6' ? members : { ext: members };

function ipMember(ip: string | undefined): { ip?: string; ipv6?: string } {
  if (ip === undefined || !ipaddr.isValid(ip)) return {};
  return ipaddr.process(ip).kind() === 'ipv4' ? { ip } : { ipv6: ip };
}

/** ISO 639-1, of a locale such as `de-DE` or `de_DE`. */
const languageCode = (locale: string | undefined): string | undefined =>
  /^[a-z]{2}(?![a-z])/i.exec(locale ?? '')?.[0].toLowerCase();

const buildSupplyChain = (nodes: readonly SupplyChainNode[]): Draft | undefined =>
  nodes.length === 0
    ? undefined
    : { complete: 1, ver: '1.0', nodes: nodes.map(({ asi, sid }) => ({ asi, sid, hp: 1 })) };

const nonEmpty = <T extends DraftValue>(list: readonly T[]): T[] | undefined =>
  list.length > 0 ? [...list] : undefined;

/** A JSON object whose members may still be undefined. */
interface Draft {
  [key: string]: DraftValue;
}
type DraftValue = string | number | boolean | null | undefined | DraftValue[] | Draft;

const isObject = (value: DraftValue): value is Draft =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without members that are undefined, and without objects that are empty then. */
function prune(draft: Draft): JsonObject {
  const members = Object.entries(draft).flatMap(([name, value]): [string, Json][] => {
    const pruned = pruneValue(value);
    return pruned === undefined ? [] : [[name, pruned]];
  });
  return Object.fromEntries(members);
}

function pruneValue(value: DraftValue): Json | undefined {
  if (Array.isArray(value)) return value.flatMap((item) => pruneValue(item) ?? []);
  if (!isObject(value)) return value;
  const object = prune(value);
  return Object.keys(object).length > 0 ? object : undefined;
}

/** Objects are merged, and arrays item by item, so that `{ imp: [{ ext }] }` adds to the impression. */
function merge(base: JsonObject, addition: JsonObject): JsonObject {
  const members = Object.entries(addition).map(([name, value]): [string, Json] => [
    name,
    Object.hasOwn(base, name) ? mergeValue(base[name] ?? null, value) : value,
  ]);
  return { ...base, ...Object.fromEntries(members) };
}

function mergeValue(base: Json, addition: Json): Json {
  if (isObject(base) && isObject(addition)) return merge(base, addition);
  if (!Array.isArray(base) || !Array.isArray(addition) || !addition.some(isObject)) return addition;
  return addition.map((item, index) => mergeValue(base[index] ?? null, item));
}
