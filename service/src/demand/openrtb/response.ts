import { type BlockLists, impressionId } from './request.ts';
import { formatCpm, toMicros } from '../offer.ts';
import { listCategories, normalizeCategory, normalizeDomain } from '../../platform/names.ts';

/** OpenRTB 3.0 loss reasons, reported in loss notices. */
export const lossReasons = {
  won: 0,
  invalid: 3,
  invalidAdvertiser: 6,
  noMarkup: 7,
  noCreativeId: 8,
  noPrice: 9,
  belowFloor: 100,
  outbid: 102,
  blockedSeat: 104,
  filtered: 200,
  pendingReview: 201,
  disapproved: 202,
  wrongFormat: 204,
  blockedAdvertiser: 205,
  blockedCategory: 209,
  blockedAttribute: 210,
} as const;

export type LossReason = (typeof lossReasons)[keyof typeof lossReasons];

/** The parts of a bid that its loss notice needs. */
export interface BidIds {
  id: string;
  seat?: string;
  /** The response's `bidid`. */
  bidId?: string;
  adId?: string;
  /** With unexpanded macros. */
  lurl?: string;
}

/** A bid that meets all rules. Its markup hasn't been parsed yet. */
export interface Bid extends BidIds {
  priceMicros: number;
  currency: string;
  /** In lowercase, without `www.`. The first domain is the one to display. */
  advertiserDomains: string[];
  creativeId: string;
  categories: string[];
  attributes: number[];
  /** VAST or its URL, with unexpanded macros. */
  markup?: string;
  /** The win notice, with unexpanded macros. If `markup` is absent, the response to this notice is the markup. */
  nurl?: string;
  burl?: string;
  /** How long the bidder is willing to wait between the auction and the impression. */
  expiresInS?: number;
  /** Declared duration. */
  durationS?: number;
}

export interface RejectedBid extends BidIds {
  lossReason: LossReason;
  /** For operators. */
  reason: string;
}

export type BidResponse =
  /** `noBidReason` is the bidder's `nbr` code. */
  | { status: 'no_bid'; noBidReason?: number }
  | { status: 'malformed'; reason: string }
  /** `bids` is sorted by price, highest first. Either list may be empty, but not both. */
  | { status: 'bids'; bids: Bid[]; rejectedBids: RejectedBid[] };

export interface BidRules {
  requestId: string;
  currency: string;
  floorMicros: number;
  blocked: BlockLists;
}

/** Maximum number of bids to read. Real responses contain only a few bids for one impression. */
const maxBids = 50;
/**
 * Maximum nesting depth of a response. Real responses are nested about ten levels deep. Parsing a response that
 * consists only of brackets would take 12 ms.
 */
const maxDepth = 64;
/** Maximum number of seats to read, including empty seats. A response of maximum length could contain 80,000 seats. */
const maxSeats = 200;

/**
 * Parses a response body, which is empty for status 204. Invalid bids are rejected individually. A response to a
 * different request is treated as malformed.
 */
export function readBidResponse(body: string, rules: BidRules): BidResponse {
  if (body.trim() === '') return { status: 'no_bid' };
  const response = parseJson(body);
  if (!isObject(response)) return makeMalformedResponse('The body is not a JSON object.');
  if (Object.keys(response).length === 0) return { status: 'no_bid' };
  if (response['id'] !== rules.requestId) {
    return makeMalformedResponse(
      `The response is for request ${quote(response['id'])}; expected ${quote(rules.requestId)}.`,
    );
  }
  const seatBids = response['seatbid'] ?? [];
  if (!Array.isArray(seatBids)) return makeMalformedResponse('seatbid is not an array.');
  const seats = seatBids.slice(0, maxSeats).filter(isObject);
  const rawBids = seats.flatMap((seatBid) => listRawBids(seatBid, response));
  if (rawBids.length === 0) {
    const noBidReason = response['nbr'];
    return { status: 'no_bid', ...(typeof noBidReason === 'number' && { noBidReason }) };
  }
  return judgeBids(rawBids.slice(0, maxBids), rules);
}

interface RawBid {
  bid: UnknownObject;
  seat: string | undefined;
  bidId: string | undefined;
  currency: string;
}

type UnknownObject = Readonly<Record<string, unknown>>;

function listRawBids(seatBid: UnknownObject, response: UnknownObject): RawBid[] {
  const bids = Array.isArray(seatBid['bid']) ? seatBid['bid'].slice(0, maxBids) : [];
  return bids.filter(isObject).map((bid) => ({
    bid,
    seat: readText(seatBid['seat']),
    bidId: readText(response['bidid']),
    currency: readText(response['cur']) ?? 'USD',
  }));
}

function judgeBids(rawBids: readonly RawBid[], rules: BidRules): BidResponse {
  const bids: Bid[] = [];
  const rejectedBids: RejectedBid[] = [];
  const seenKeys = new Set<string>();
  for (const rawBid of rawBids) {
    const ids = readIds(rawBid);
    const key = JSON.stringify([ids.seat, ids.id]);
    const result = seenKeys.has(key)
      ? ([lossReasons.invalid, 'Another bid has the same id.'] as const)
      : judge(rawBid, ids, rules);
    seenKeys.add(key);
    if ('priceMicros' in result) bids.push(result);
    else rejectedBids.push({ ...ids, lossReason: result[0], reason: result[1] });
  }
  // The sort is stable. Among bids with the same price, the first one in the response wins.
  bids.sort((a, b) => b.priceMicros - a.priceMicros);
  return { status: 'bids', bids, rejectedBids };
}

function readIds({ bid, seat, bidId }: RawBid): BidIds {
  const [adId, lurl] = [readText(bid['adid']), readUrl(bid['lurl'])];
  return {
    id: readText(bid['id']) ?? '',
    ...(seat !== undefined && { seat }),
    ...(bidId !== undefined && { bidId }),
    ...(adId !== undefined && { adId }),
    ...(lurl !== undefined && { lurl }),
  };
}

type Rejection = readonly [LossReason, string];

/** Returns the bid, or why it is rejected. */
function judge({ bid, currency }: RawBid, ids: BidIds, rules: BidRules): Bid | Rejection {
  const { blocked, floorMicros } = rules;
  if (ids.id === '') return [lossReasons.invalid, 'The bid has no id.'];
  if (bid['impid'] !== impressionId) {
    return [
      lossReasons.invalid,
      `The bid is for impression ${quote(bid['impid'])}; expected ${quote(impressionId)}.`,
    ];
  }
  if (currency !== rules.currency) {
    return [lossReasons.invalid, `The bid is in ${quote(currency)}; expected ${rules.currency}.`];
  }
  const priceMicros = toMicros(bid['price']);
  if (priceMicros === undefined) {
    return [lossReasons.noPrice, `The bid's price is ${quote(bid['price'])}.`];
  }
  if (priceMicros < floorMicros) {
    const [price, floor] = [formatCpm(priceMicros), formatCpm(floorMicros)];
    return [lossReasons.belowFloor, `The bid's price is ${price}; the floor is ${floor}.`];
  }
  if (ids.seat !== undefined && blocked.seats.includes(ids.seat)) {
    return [lossReasons.blockedSeat, `Seat ${quote(ids.seat)} is blocked.`];
  }
  // OpenRTB 2.5 has no `mtype`.
  if (bid['mtype'] !== undefined && bid['mtype'] !== 2) {
    return [
      lossReasons.wrongFormat,
      `The bid's markup type is ${quote(bid['mtype'])}; expected 2 (video).`,
    ];
  }
  const creative = judgeCreative(bid, blocked);
  if (!('creativeId' in creative)) return creative;
  const [markup, nurl, burl] = [readMarkup(bid['adm']), readUrl(bid['nurl']), readUrl(bid['burl'])];
  if (markup === undefined && nurl === undefined) {
    return [
      lossReasons.noMarkup,
      'The bid has neither VAST markup nor a win notice that could return it.',
    ];
  }
  const [expiresInS, durationS] = [readCount(bid['exp']), readCount(bid['dur'])];
  return {
    priceMicros,
    currency,
    ...ids,
    ...creative,
    ...(markup !== undefined && { markup }),
    ...(nurl !== undefined && { nurl }),
    ...(burl !== undefined && { burl }),
    ...(expiresInS !== undefined && { expiresInS }),
    ...(durationS !== undefined && { durationS }),
  };
}

type BidCreative = Pick<Bid, 'advertiserDomains' | 'creativeId' | 'categories' | 'attributes'>;

function judgeCreative(bid: UnknownObject, blocked: BlockLists): BidCreative | Rejection {
  const declaredDomains = readList(bid['adomain']) ?? [];
  const advertiserDomains = declaredDomains.flatMap((text) => normalizeDomain(text) ?? []);
  if (advertiserDomains.length === 0 || advertiserDomains.length < declaredDomains.length) {
    return [
      lossReasons.invalidAdvertiser,
      `The bid's adomain is ${quote(bid['adomain'])}; expected a list of domains.`,
    ];
  }
  const creativeId = readText(bid['crid']);
  if (creativeId === undefined) return [lossReasons.noCreativeId, 'The bid has no crid.'];
  const advertiser = advertiserDomains.find((domain) =>
    blocked.advertisers.some((other) => domain === other || domain.endsWith(`.${other}`)),
  );
  if (advertiser !== undefined) {
    return [lossReasons.blockedAdvertiser, `Advertiser ${advertiser} is blocked.`];
  }
  if (!isOneAdvertiser(advertiserDomains)) {
    return [
      lossReasons.invalidAdvertiser,
      `The bid's adomain names several advertisers, ${quote(advertiserDomains)}; expected one, which a review and rules can be about.`,
    ];
  }
  const [cat, attr] = [readList(bid['cat']), readList(bid['attr'])?.map(Number)];
  const attributes = attr?.every(Number.isInteger) ? attr : undefined;
  if (!cat || !attributes) {
    const name = cat ? 'attr' : 'cat';
    return [lossReasons.invalid, `The bid's ${name} is ${quote(bid[name])}; expected a list.`];
  }
  const categories = cat.map((code) => normalizeCategory(code) ?? code);
  const category = categories.find((code) =>
    listCategories(code).some((other) => blocked.categories.includes(other)),
  );
  if (category !== undefined) {
    return [lossReasons.blockedCategory, `Category ${quote(category)} is blocked.`];
  }
  const attribute = attributes.find((code) => blocked.attributes.includes(code));
  if (attribute !== undefined) {
    return [lossReasons.blockedAttribute, `Creative attribute ${attribute} is blocked.`];
  }
  return { advertiserDomains, creativeId, categories, attributes };
}

/** Whether all domains are one advertiser's: a domain and its subdomains. */
function isOneAdvertiser(domains: readonly string[]): boolean {
  const shortest = domains.reduce((a, b) => (b.length < a.length ? b : a));
  return domains.every((domain) => `.${domain}`.endsWith(`.${shortest}`));
}

/** Returns undefined if the text is not JSON or is nested too deeply. */
function parseJson(text: string): unknown {
  if (isNestedDeeperThan(text, maxDepth)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether arrays and objects in a JSON text are nested more than `max` levels deep. */
function isNestedDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') inString = !inString;
    else if (inString) index += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > max) return true;
  }
  return false;
}

const makeMalformedResponse = (reason: string): BidResponse => ({ status: 'malformed', reason });

const isObject = (value: unknown): value is UnknownObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads an id. Some bidders send ids as numbers. Returns undefined for text that a database cannot store. */
function readText(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string' || value === '' || value.length > 512) return undefined;
  return /[\p{Cc}\p{Cs}]/u.test(value) ? undefined : value;
}

/** Maximum number of an ad's domains, categories or attributes. Real bids have a few. */
const maxListed = 50;

/**
 * Reads a list of texts, of which some bidders send a single one. Returns undefined if any of it can't be read, because a
 * rule could then not be checked against it.
 */
function readList(value: unknown): string[] | undefined {
  const items = [value ?? []].flat().filter((item) => item !== null && item !== '');
  const texts = items.flatMap((item) => readText(item) ?? []);
  return texts.length < items.length || texts.length > maxListed ? undefined : texts;
}

const readCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 1e9
    ? value
    : undefined;

/** Reads a URL. It is validated only loosely, because it may not be valid until its macros have been expanded. */
const readUrl = (value: unknown): string | undefined =>
  typeof value === 'string' && /^https?:\/\//i.test(value) && value.length <= 8_192
    ? value
    : undefined;

const readMarkup = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\s*(<|https?:\/\/)/i.test(value) ? value : undefined;

const quote = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 120);
