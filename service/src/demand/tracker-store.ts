import type { Queries, Scope } from '../store/database.ts';
import { buildArrays, type Column, forAccount, unnest } from '../store/unnest.ts';
import type { DemandRecord } from './offer.ts';
import type { DueTracker } from './trackers.ts';

/** A tracker request to store. */
export interface NewRequest {
  decisionId: string;
  tracker: DueTracker;
  /** How long after it has been stored the request may still be sent. */
  expiresInMs: number;
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
  { name: 'expires_in_ms', type: 'double precision', read: ({ expiresInMs }) => expiresInMs },
];

/** Returns the host of a URL, because requests are queued per host. */
const parseHost = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/**
 * Builds a statement that inserts the arrays from {@link buildRequestArrays}. The arrays are bound to the parameters
 * starting at `$first`, the account to `$1` and the environment to `$2`. Times come from the database, because the
 * clocks of the processes may differ.
 */
export const buildInsertRequests = (first: number): string =>
  `INSERT INTO tracker_requests (account_id, environment, state, attempt, reached, next_at, decision_id, tracker, host,
      place, at_least_once, client, late_at)
    SELECT account_id, $2, 'pending', 0, false, now(), decision_id, tracker, host, place, at_least_once, client,
        now() + expires_in_ms * interval '1 millisecond'
      FROM (${forAccount(unnest(columns, first))}) AS due
    ON CONFLICT DO NOTHING`;

export const requestColumnCount = columns.length;
export const buildRequestArrays = (requests: readonly NewRequest[]): unknown[] =>
  buildArrays(columns, requests);

const insert = buildInsertRequests(3);

/** Stores requests in the transaction that caused them. Requests that are already stored are left unchanged. */
export async function storeRequests(
  queries: Queries,
  { accountId, environment }: Scope,
  requests: readonly NewRequest[],
): Promise<void> {
  if (requests.length === 0) return;
  await queries.execute(insert, [accountId, environment, ...buildRequestArrays(requests)]);
}

/** Looks up one id at a time. See `event/event-store.ts` for the reason. */
const selectChosenAds = `SELECT one.* FROM unnest($2::text[]) AS requested(requested_id) CROSS JOIN LATERAL (
    SELECT decision_id AS "decisionId", demand -> 'chosen' AS chosen FROM decision_demand
      WHERE account_id = $1 AND decision_id = requested.requested_id AND demand ? 'chosen' OFFSET 0) AS one`;

/** Reads the stored external ads of decisions, by decision id. */
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
