import type { Icon, TrackerEvent } from './vast/layer.ts';
import type { MacroValues } from './vast/macros.ts';
import type { TimeOffset } from './vast/values.ts';

/*
 * Prices are stored as integers: CPMs in micros (millionths of a currency unit). Bidders send floating-point numbers,
 * but summing those would accumulate rounding errors.
 */

/** Maximum plausible price: a CPM of 10,000 currency units. A higher bid is a mistake or fraud. */
const maxMicros = 10_000_000_000;

/** Converts a bid's price to micros. Returns undefined if the price is not a plausible positive number. */
export function toMicros(cpm: unknown): number | undefined {
  if (typeof cpm !== 'number') return undefined;
  const micros = Math.round(cpm * 1_000_000);
  return micros > 0 && micros <= maxMicros ? micros : undefined;
}

/** Converts micros to a CPM in currency units, which OpenRTB uses. */
export const toCpm = (micros: number): number => micros / 1_000_000;

/** Formats a price without an exponent: `0.000001` rather than `1e-6`. */
export const formatCpm = (micros: number): string =>
  toCpm(micros)
    .toFixed(6)
    .replace(/\.?0+$/, '');

/** An ad that an external source offers for one decision. */
export interface Offer {
  sourceId: string;
  /**
   * Identifies the creative within its source: the creative's UniversalAdId if known, otherwise its crid or ad id,
   * otherwise its media URL without the query string.
   */
  creativeKey: string;
  /** Lower case, without `www.`. */
  advertiserDomain?: string;
  advertiserName?: string;
  /** CPM in micros; 0 for a tag without a configured price. */
  priceMicros: number;
  /** ISO 4217. */
  currency: string;
  media: {
    url: string;
    mime: string;
    width: number;
    height: number;
    bitrate?: number;
    durationMs?: number;
  };
  captions: { url: string; language: string }[];
  categories: string[];
  clickUrl?: string;
  /** Static images only. */
  icon?: Icon;
  skipAfterMs?: number;
  expiresAtMs?: number;
  trackers: DemandTrackers;
}

/** The trackers to fire while the ad plays, with unexpanded macros. */
export interface DemandTrackers {
  byEvent: Partial<Record<TrackerEvent, string[]>>;
  progress: { offset: TimeOffset; url: string }[];
  /** The billing notice. Its auction macros are expanded, except for the impression time. */
  burl?: string;
  /** Values for VAST macros that describe the ad and the decision request. */
  macros: MacroValues;
}

/** A URL that is requested as a result of the decision. Its macros are expanded. */
export interface Notice {
  kind: 'win' | 'loss' | 'error';
  url: string;
}

/** A decision's external demand, which is stored in the same transaction as the decision. */
export interface DemandRecord {
  /** Absent if no external ad was chosen. */
  chosen?: {
    sourceId: string;
    priceMicros: number;
    currency: string;
    trackers: DemandTrackers;
    impressionOn: 'verified' | 'rendered';
    headerProfile: 'iab' | 'forwarded';
    trackUntilMs: number;
    limitAdTracking: boolean;
  };
  notices: Notice[];
}
