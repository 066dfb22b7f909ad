import type { AdEvent } from '@trueward/protocol/wire';
import type { Queries, Scope } from '../store/database.ts';
import { buildArrays, type Column, forAccount, unnest } from '../store/unnest.ts';
import type { DemandRecord } from './offer.ts';
import type { TrackerEvent } from './vast/layer.ts';
import type { TimeOffset } from './vast/values.ts';

type EventType = AdEvent['type'];
type ChosenAd = NonNullable<DemandRecord['chosen']>;

/** An ad's playback state, according to the events that have arrived so far. */
export interface Playback {
  /** Whether the impression is verified. */
  verified: boolean;
  /** The types of events accepted so far. */
  types: ReadonlySet<EventType>;
  /** The longest watch time reported by any event. */
  watchedMs: number;
}

/** A URL to request for a decision. */
export interface DueTracker {
  /** The event and the URL's index, such as `impression/0`. Unique within the decision. */
  name: string;
  /** Contains unexpanded macros. */
  url: string;
  /** The position among the decision's requests to one host. Requests with the same position are sent concurrently. */
  place: number;
  /** Whether to retry until a response arrives. Other requests are not retried if they may have reached the host. */
  atLeastOnce: boolean;
}

/**
 * The kinds of trackers, in the order in which they are fired. The impression tracker comes before `start`, although
 * the impression is verified after the first events.
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
  chosenAd: ChosenAd,
  before: Playback,
  after: Playback,
): DueTracker[] {
  const namesDueBefore = new Set(listAllDueTrackers(chosenAd, before).map(({ name }) => name));
  return listAllDueTrackers(chosenAd, after).filter(({ name }) => !namesDueBefore.has(name));
}

/** Returns all trackers that are due. No tracker is due before the impression tracker. */
function listAllDueTrackers(
  { trackers, impressionOn }: ChosenAd,
  playback: Playback,
): DueTracker[] {
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
 * Whether playback has passed the offset. Percentages are compared with the quartile events, and times with the watch
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

/** A tracker request to store. */
export interface NewRequest {
  decisionId: string;
  tracker: DueTracker;
  /** When the request became due. */
  dueAtMs: number;
  /** Until when the request may be sent. */
  lateAtMs: number;
  /** The sealed {@link Client}; null if the request discloses nothing about the player. */
  client: string | null;
}

/** Data about the player. It stays sealed until the tracker request is sent. */
export interface Client {
  ip?: string;
  userAgent?: string;
}

const columns: readonly Column<NewRequest>[] = [
  { name: 'decision_id', type: 'text', read: ({ decisionId }) => decisionId },
  { name: 'tracker', type: 'text', read: ({ tracker }) => tracker.name },
  { name: 'host', type: 'text', read: ({ tracker }) => parseHost(tracker.url) },
  { name: 'place', type: 'integer', read: ({ tracker }) => tracker.place },
  { name: 'at_least_once', type: 'boolean', read: ({ tracker }) => tracker.atLeastOnce },
  { name: 'client', type: 'text', read: ({ client }) => client },
  { name: 'next_at', type: 'timestamptz', read: ({ dueAtMs }) => dueAtMs },
  { name: 'late_at', type: 'timestamptz', read: ({ lateAtMs }) => lateAtMs },
];

/** Returns a URL's host. Requests are queued per host. */
const parseHost = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/**
 * Builds a statement that inserts the arrays from {@link buildRequestArrays}. The arrays are bound to the parameters
 * starting at `$first`, the account to `$1` and the environment to `$2`.
 */
export const buildInsertRequests = (first: number): string =>
  `INSERT INTO tracker_requests (account_id, environment, state, attempt, reached, next_at, decision_id, tracker, host,
      place, at_least_once, client, late_at)
    SELECT account_id, $2, 'pending', 0, false, next_at, decision_id, tracker, host, place, at_least_once, client,
        late_at
      FROM (${forAccount(unnest(columns, first))}) AS due
    ON CONFLICT DO NOTHING`;

export const requestColumnCount = columns.length;
export const buildRequestArrays = (requests: readonly NewRequest[]): unknown[] =>
  buildArrays(columns, requests);

const insert = buildInsertRequests(3);

/** Stores requests in the caller's transaction. Requests that are already stored are left unchanged. */
export async function storeRequests(
  queries: Queries,
  { accountId, environment }: Scope,
  requests: readonly NewRequest[],
): Promise<void> {
  if (requests.length === 0) return;
  await queries.execute(insert, [accountId, environment, ...buildRequestArrays(requests)]);
}

/** Looks up one id at a time. See `reward/read-decisions.ts` for the reason. */
const selectChosenAds = `SELECT one.* FROM unnest($2::text[]) AS requested(requested_id) CROSS JOIN LATERAL (
    SELECT decision_id AS "decisionId", demand -> 'chosen' AS chosen FROM decision_demand
      WHERE account_id = $1 AND decision_id = requested.requested_id AND demand ? 'chosen' OFFSET 0) AS one`;

/** Reads the external ads chosen for decisions, by decision id. */
export async function readChosenAds(
  queries: Queries,
  accountId: string,
  decisionIds: readonly string[],
): Promise<Map<string, NonNullable<DemandRecord['chosen']>>> {
  const rows = await queries.execute<{
    decisionId: string;
    chosen: NonNullable<DemandRecord['chosen']>;
  }>(selectChosenAds, [accountId, decisionIds]);
  return new Map(rows.map(({ decisionId, chosen }) => [decisionId, chosen]));
}
