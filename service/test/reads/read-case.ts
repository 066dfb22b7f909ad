import { createIds } from '../../src/platform/ids.ts';
import type { Database } from '../../src/store/database.ts';
import { createManualClock } from '../manual-clock.ts';
import { ids } from '../twin-accounts.ts';

/** A read that must return only the rows it is for. */
export interface ReadCase {
  /** SQL that makes rows subject to the read. */
  prepare?: string[];
  read(database: Database): Promise<unknown>;
  /** What the read is for: conditions by table. */
  of: Record<string, string>;
  /** Set if the read is for both environments of the account. */
  inBoth?: boolean;
}

/** Reads by what they read. */
export type ReadCases = Record<string, ReadCase>;

/** The time of the rows. */
export const clock = createManualClock(Date.parse('2099-06-01T00:00:00Z'));
export const nowMs = clock.nowMs();
export const makeId = createIds(clock, (size) => new Uint8Array(size));
export const [sourceId = ''] = ids('source', 1);
export const page = { limit: 10 };

/** Makes the first row of each account and environment one player's. */
export const samePlayer = (...tables: string[]) =>
  tables.map((table) => `UPDATE ${table} SET viewer = 'player' WHERE right(viewer, 1) = '1'`);
export const ofPlayer = `viewer = 'player'`;

/** Makes roll-ups count something of one house ad and one source. */
export const counted = (metric: string): string =>
  `UPDATE rollups SET metric = '${metric}', house_ad_id = CASE right(house_ad_id, 1) WHEN '1' THEN 'ad' ELSE house_ad_id END,
    source_id = CASE right(source_id, 1) WHEN '1' THEN '${sourceId}' ELSE source_id END`;
export const reportQuery = {
  fromMs: nowMs - 86_400_000,
  toMs: nowMs + 86_400_000,
  timeZone: 'UTC',
} as const;
