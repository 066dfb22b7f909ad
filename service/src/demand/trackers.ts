import type { AdEvent } from '@trueward/protocol/wire';
import type { DemandRecord } from './offer.ts';
import type { TrackerEvent } from './vast/layer.ts';
import type { TimeOffset } from './vast/values.ts';

type EventType = AdEvent['type'];
type ChosenAd = NonNullable<DemandRecord['chosen']>;

/** The playback state of an ad, according to the events that have arrived so far. */
export interface Playback {
  /** Whether the impression is verified. */
  verified: boolean;
  /** Types of the accepted events. */
  types: ReadonlySet<EventType>;
  /** The longest watched time that any event reported. */
  watchedMs: number;
}

/** A URL to request for a decision. */
export interface DueTracker {
  /** The event and the position of the URL, such as `impression/0`. Unique within the decision. */
  name: string;
  /** Contains unexpanded macros. */
  url: string;
  /** The position among the decision's requests to one host. Requests with the same position are sent concurrently. */
  place: number;
  /** Whether to retry until there is a response. Other requests are not retried if they may have reached the host. */
  atLeastOnce: boolean;
}

/**
 * The kinds of trackers, in the order in which they are requested. The impression tracker comes before `start`,
 * although the impression is verified after the first events.
 */
const trackerOrder = [
  ['notice'],
  ['impression', 'verificationNotExecuted', 'burl'],
  ['viewable'],
  ['loaded', 'creativeView', 'start'],
  ['firstQuartile'],
  ['midpoint'],
  ['thirdQuartile'],
  ['progress'],
  ['complete'],
  ['click'],
  ['skip'],
  ['closeLinear', 'close'],
] as const;
type TrackerKind = (typeof trackerOrder)[number][number];
type MediaEvent = Exclude<TrackerKind & TrackerEvent, 'progress'>;

const findPlace = (kind: TrackerKind): number =>
  trackerOrder.findIndex((kinds) => (kinds as readonly TrackerKind[]).includes(kind));

const toDueTrackers = (kind: TrackerKind, urls: readonly string[]): DueTracker[] =>
  urls.map((url, index) => ({
    name: `${kind}/${index}`,
    url,
    place: findPlace(kind),
    atLeastOnce: kind === 'burl',
  }));

/** Returns the auction notices, which are due as soon as the decision has been made. */
export const listDueNotices = ({ notices }: DemandRecord): DueTracker[] =>
  toDueTrackers(
    'notice',
    notices.map(({ url }) => url),
  );

/**
 * The trackers that become due when an event arrives. A `close` event is ignored if the ad was completed or skipped.
 */
const trackersByEventType: Partial<Record<EventType, readonly MediaEvent[]>> = {
  start: ['loaded', 'creativeView', 'start'],
  first_quartile: ['firstQuartile'],
  midpoint: ['midpoint'],
  third_quartile: ['thirdQuartile'],
  complete: ['complete'],
  click: ['click'],
  skip: ['skip'],
  close: ['closeLinear', 'close'],
};

/** Returns the trackers that became due between two playback states. */
export function listNewlyDueTrackers(
  chosen: ChosenAd,
  before: Playback,
  after: Playback,
): DueTracker[] {
  const dueBefore = new Set(listAllDue(chosen, before).map(({ name }) => name));
  return listAllDue(chosen, after).filter(({ name }) => !dueBefore.has(name));
}

/** Returns all trackers that are due. No tracker is due before the impression tracker. */
function listAllDue({ trackers, impressionOn }: ChosenAd, playback: Playback): DueTracker[] {
  const { verified, types } = playback;
  const isRendered = verified || types.has('impression') || types.has('start');
  if (!(impressionOn === 'verified' ? verified : isRendered)) return [];
  const listDueFor = (event: MediaEvent): DueTracker[] =>
    toDueTrackers(event, trackers.byEvent[event] ?? []);
  const isFinished = types.has('complete') || types.has('skip');
  return [
    ...listDueFor('impression'),
    ...listDueFor('verificationNotExecuted'),
    ...(verified
      ? [...toDueTrackers('burl', [trackers.burl ?? []].flat()), ...listDueFor('viewable')]
      : []),
    ...[...types]
      .filter((type) => type !== 'close' || !isFinished)
      .flatMap((type) => trackersByEventType[type] ?? [])
      .flatMap(listDueFor),
    ...toDueTrackers(
      'progress',
      trackers.progress.map(({ url }) => url),
    ).filter((_, index) => hasPassed(trackers.progress[index]?.offset, playback)),
  ];
}

/**
 * Whether playback has passed the offset. Percentages are compared with the quartile events, and times with the watched
 * time. A completed ad has passed every offset.
 */
function hasPassed(offset: TimeOffset | undefined, { types, watchedMs }: Playback): boolean {
  if (offset === undefined) return false;
  if (types.has('complete')) return true;
  return 'ms' in offset ? offset.ms <= watchedMs : offset.percent <= computePercent(types);
}

const computePercent = (types: ReadonlySet<EventType>): number => {
  if (types.has('third_quartile')) return 75;
  if (types.has('midpoint')) return 50;
  return types.has('first_quartile') ? 25 : 0;
};
