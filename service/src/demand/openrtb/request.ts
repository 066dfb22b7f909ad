import ipaddr from 'ipaddr.js';
import type { DisclosedPlayer } from '../disclose.ts';
import { toCpm } from '../offer.ts';

export type OpenRtbVersion = '2.5' | '2.6';

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** Block lists from the policies. */
export interface BlockLists {
  /** Domains; their subdomains are blocked too. */
  advertisers: readonly string[];
  /** IAB Content Taxonomy 1.0 codes. */
  categories: readonly string[];
  seats: readonly string[];
  /** AdCOM creative attributes. */
  attributes: readonly number[];
}

/** One hop in the supply chain, as listed in the site's ads.txt. */
export interface SupplyChainNode {
  /** Domain of the advertising system. */
  asi: string;
  /** The seller's id in that system. */
  sid: string;
}

/** The input for a bid request for one rewarded ad. */
export interface BidRequestInput {
  /** A unique id. The response must contain the same id. */
  id: string;
  version: OpenRtbVersion;
  /** Whether this is a sandbox request. Sandbox auctions are not billed. */
  isTest: boolean;
  timeoutMs: number;
  /** Placement name. */
  placement: string;
  floorMicros: number;
  /** ISO 4217. */
  currency: string;
  /** Maximum time from the auction to the impression. */
  showWithinS: number;
  /** The ad player's name and version. */
  displayManager: { name: string; version: string };
  /** CSS pixels. */
  playerSize?: { width: number; height: number };
  minDurationS: number;
  maxDurationS: number;
  site: { domain?: string; page?: string; publisherId?: string };
  player: DisclosedPlayer;
  /** Shared by all of a decision's sources. */
  transactionId: string;
  supplyChain: readonly SupplyChainNode[];
  blocked: BlockLists;
  /** Bidder-specific fields, merged into the request. */
  ext?: JsonObject;
}

/** Every request contains exactly one impression. */
export const impressionId = '1';

/** AdCOM numbers for VAST 2.0 to 4.2 and their wrappers. Bidders don't recognize the numbers for later versions. */
const protocols = [2, 3, 5, 6, 7, 8, 11, 12, 13, 14];

/** Builds the body of a bid request. Fields without a value are omitted. */
export function buildBidRequest(input: BidRequestInput): JsonObject {
  const { site, player, blocked } = input;
  const placeFields = createFieldPlacer(input.version);
  const standardRequest = prune({
    id: input.id,
    imp: [buildImpression(input)],
    site: { domain: site.domain, page: site.page, publisher: { id: site.publisherId } },
    device: {
      ua: player.userAgent,
      ...makeIpField(player.ip),
      language: parseLanguageCode(player.language),
      lmt: player.limitAdTracking ? 1 : 0,
    },
    user: { id: player.userId, ...placeFields({ consent: player.tcfString }) },
    regs: {
      coppa: player.childDirected ? 1 : 0,
      ...placeFields({
        gdpr: player.gdpr === undefined ? undefined : Number(player.gdpr),
        gpp: player.gppString,
      }),
    },
    source: {
      fd: 1,
      tid: input.transactionId,
      ...placeFields({ schain: buildSupplyChain(input.supplyChain) }),
    },
    // First-price auction: the winner pays its bid.
    at: 1,
    tmax: input.timeoutMs,
    cur: [input.currency],
    test: input.isTest ? 1 : 0,
    bseat: omitEmpty(blocked.seats),
    bcat: omitEmpty(blocked.categories),
    badv: omitEmpty(blocked.advertisers),
  });
  const request = input.ext ? merge(standardRequest, input.ext) : standardRequest;
  return { ...merge(request, selectPlayer(standardRequest)), ...restoreIds(input.id, request) };
}

/** What `ext` must not change: it is the same for every player, and they differ in consent and age. */
const selectPlayer = (request: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(request).filter(([name]) => ['device', 'user', 'regs'].includes(name)),
  );

/** Restores the ids, which `ext` must not change. The response is matched to the request by these ids. */
function restoreIds(id: string, { imp }: JsonObject): JsonObject {
  const [impression] = Array.isArray(imp) ? imp : [];
  return { id, imp: [{ ...(isObject(impression) && impression), id: impressionId }] };
}

function buildImpression(input: BidRequestInput): Draft {
  const { version, displayManager, playerSize } = input;
  return {
    id: impressionId,
    tagid: input.placement,
    displaymanager: displayManager.name,
    displaymanagerver: displayManager.version,
    bidfloor: toCpm(input.floorMicros),
    bidfloorcur: input.currency,
    secure: 1,
    instl: 1,
    exp: input.showWithinS,
    ...(version === '2.6'
      ? // This service serves the assets and fires the trackers.
        { rwdd: 1, ssai: 3 }
      : // Prebid Server reads this field. For other OpenRTB 2.5 bidders, an operator can set a different field in `ext`.
        { ext: { prebid: { is_rewarded_inventory: 1 } } }),
    video: {
      mimes: ['video/mp4', 'video/webm'],
      minduration: input.minDurationS,
      maxduration: input.maxDurationS,
      protocols,
      w: playerSize?.width,
      h: playerSize?.height,
      startdelay: 0,
      // The ad is interstitial, linear and non-skippable. Playback is click-initiated with sound on, and delivery is
      // progressive.
      ...(version === '2.6' ? { plcmt: 3 } : { placement: 5 }),
      linearity: 1,
      skip: 0,
      playbackmethod: [3],
      delivery: [2],
      battr: omitEmpty(input.blocked.attributes),
    },
  };
}

/**
 * Returns a function for fields that OpenRTB 2.6 moved out of `ext`. For OpenRTB 2.5, the function puts them into
 * `ext`.
 */
const createFieldPlacer =
  (version: OpenRtbVersion) =>
  (fields: Draft): Draft =>
    version === '2.6' ? fields : { ext: fields };

function makeIpField(ip: string | undefined): { ip?: string; ipv6?: string } {
  if (ip === undefined || !ipaddr.isValid(ip)) return {};
  return ipaddr.process(ip).kind() === 'ipv4' ? { ip } : { ipv6: ip };
}

/** Returns the ISO 639-1 code of a locale such as `de-DE` or `de_DE`. */
const parseLanguageCode = (locale: string | undefined): string | undefined =>
  /^[a-z]{2}(?![a-z])/i.exec(locale ?? '')?.[0].toLowerCase();

const buildSupplyChain = (nodes: readonly SupplyChainNode[]): Draft | undefined =>
  nodes.length === 0
    ? undefined
    : { complete: 1, ver: '1.0', nodes: nodes.map(({ asi, sid }) => ({ asi, sid, hp: 1 })) };

const omitEmpty = <T extends DraftValue>(list: readonly T[]): T[] | undefined =>
  list.length > 0 ? [...list] : undefined;

/** A JSON object whose fields may still be undefined. */
interface Draft {
  [key: string]: DraftValue;
}
type DraftValue = string | number | boolean | null | undefined | DraftValue[] | Draft;

const isObject = (value: DraftValue): value is Draft =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes undefined fields, and then objects that have no fields left. */
function prune(draft: Draft): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(draft)) {
    const prunedValue = pruneValue(value);
    if (prunedValue !== undefined) fields[name] = prunedValue;
  }
  return fields;
}

function pruneValue(value: DraftValue): Json | undefined {
  if (Array.isArray(value)) return value.flatMap((item) => pruneValue(item) ?? []);
  if (!isObject(value)) return value;
  const object = prune(value);
  return Object.keys(object).length > 0 ? object : undefined;
}

/** Merges objects recursively and arrays item by item. For example, `{ imp: [{ ext }] }` extends the impression. */
function merge(base: JsonObject, addition: JsonObject): JsonObject {
  const fields = Object.entries(addition).map(([name, value]): [string, Json] => [
    name,
    Object.hasOwn(base, name) ? mergeValue(base[name] ?? null, value) : value,
  ]);
  return { ...base, ...Object.fromEntries(fields) };
}

function mergeValue(base: Json, addition: Json): Json {
  if (isObject(base) && isObject(addition)) return merge(base, addition);
  if (!Array.isArray(base) || !Array.isArray(addition) || !addition.some(isObject)) return addition;
  return addition.map((item, index) => mergeValue(base[index] ?? null, item));
}
