import { pino } from 'pino';
import { createIds } from '../../src/platform/ids.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { createManualClock } from '../manual-clock.ts';

/** A write that must change exactly the rows it is for. */
export interface WriteCase {
  /** SQL that makes rows subject to the write. */
  prepare?: string[];
  write(queries: Queries, database: Database): Promise<unknown>;
  /** The rows that the write changes, adds or deletes: the table, and the primary key without the account. */
  changes: string[];
}

/** Writes by what they do. */
export type WriteCases = Record<string, WriteCase>;

export const clock = createManualClock(Date.parse('2026-06-01T12:00:00Z'));
export const log = pino({ level: 'silent' });
export const makeNewId = createIds(clock, (size) => new Uint8Array(size));
/** Records nothing. */
export const audit = { record: () => Promise.resolve() } as never;
