import type { TrackerEvent } from './vast/layer.ts';
import type { MacroValues } from './vast/macros.ts';
import type { TimeOffset } from './vast/values.ts';

/** What is requested as the ad runs; URLs still have macros. */
export interface DemandTrackers {
  byEvent: Partial<Record<TrackerEvent, string[]>>;
  progress: { offset: TimeOffset; url: string }[];
  /** With its auction macros expanded. */
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
