import type { Icon, TrackerEvent } from './vast/layer.ts';
import type { MacroValues } from './vast/macros.ts';
import type { TimeOffset } from './vast/values.ts';

/** An ad that an external source offers for one decision. */
export interface Offer {
  sourceId: string;
  /**
   * Identifies the creative within its source: its UniversalAdId if known, else its crid or ad id, else its media URL
   * without the query.
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
  /** Billing notice. Its auction macros are expanded, except for the impression time. */
  burl?: string;
  /** Values for the VAST macros that only the ad can provide (`makeAdMacros`). */
  macros: MacroValues;
}

/** A URL to request because of the decision itself, with its macros expanded. */
export interface Notice {
  kind: 'win' | 'loss' | 'error';
  url: string;
}

/** External demand of a decision, stored in the decision's own transaction. */
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
