import type { Icon, TrackerEvent } from './vast/layer.ts';
import type { MacroValues } from './vast/macros.ts';
import type { TimeOffset } from './vast/values.ts';

/** An ad that an external source offers for one decision. */
export interface Offer {
  sourceId: string;
  /**
   * Identifies the creative within its source: the creative's UniversalAdId if known, otherwise its crid or ad id,
   * otherwise its media URL without the query.
   */
  creativeKey: string;
  /** Lower case, without `www.`. */
  advertiserDomain?: string;
  advertiserName?: string;
  /** Price per thousand impressions; 0 if the source has no price. */
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

/** URLs to request while the ad runs, with unexpanded macros. */
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
