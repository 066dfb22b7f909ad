import type { Icon, TrackerEvent } from './vast/layer.ts';
import type { MacroValues } from './vast/macros.ts';
import type { TimeOffset } from './vast/values.ts';

/** An ad that an outside source offers for one decision. */
export interface Offer {
  sourceId: string;
  /**
   * Identifies the creative within its source: its UniversalAdId unless unknown, else crid or ad id, else its media
   * URL without the query.
   */
  creativeKey: string;
  /** Lower case, without `www.`. */
  advertiserDomain?: string;
  advertiserName?: string;
  /** Per thousand impressions; 0 if the source has no price. */
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

/** What is requested as the ad runs; URLs still have macros. */
export interface DemandTrackers {
  byEvent: Partial<Record<TrackerEvent, string[]>>;
  progress: { offset: TimeOffset; url: string }[];
  /** With its auction macros expanded, except for the time of the impression. */
  burl?: string;
  /** Values for the VAST macros that only the ad knows (`adMacros`). */
  macros: MacroValues;
}

/** What is requested because of the decision itself: win, loss and error notices; macros are expanded. */
export interface Notice {
  kind: 'win' | 'loss' | 'error';
  url: string;
}

/** What a decision stores about outside demand, in its own transaction. */
export interface DemandRecord {
  /** Absent if no outside ad was chosen. */
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
