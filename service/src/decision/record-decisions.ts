import { addSums } from '../report/rollup.ts';
import { createScopedLanes, type LaneParts } from '../resource/scoped-lanes.ts';
import type { Database, TransactionOptions } from '../store/database.ts';
import { type Lane, retryLockTimeoutMs } from '../store/group-commit.ts';
import { unnest } from '../store/unnest.ts';
import type { WriteEvents } from '../webhook/event-writer.ts';
import { kindColumns, ownColumns } from './decision-columns.ts';
import type { MadeDecision } from './decision-record.ts';
import { encodeDecisions } from './encode-decisions.ts';

/** The lanes on which decisions of one account and environment are committed together. */
export function createDecisionLanes(
  database: Database,
  writeEvents: WriteEvents,
  onDeliveries: () => void,
  lanes: LaneParts,
): Lane<MadeDecision, void> {
  return createScopedLanes(lanes, {
    async commit(items, { isRetry }) {
      const options = isRetry ? { lockTimeoutMs: retryLockTimeoutMs } : {};
      if (await recordDecisions(database, writeEvents, items, options)) onDeliveries();
      return items.map(() => undefined);
    },
    gatherMs: database.gatherMs,
  });
}

const listOf = (columns: readonly { name: string }[]): string =>
  columns.map(({ name }) => name).join(', ');

const firstOwn = 3;
const kindNumber = firstOwn + ownColumns.length;
const firstKind = kindNumber + 1;
const firstSum = firstKind + kindColumns.length;

/**
 * Decisions and their sums in one statement: on the embedded store each statement is a turn of its
 * thread. What a kind has in common comes once for all of its decisions: that takes 15 µs a row off
 * the 63 of the embedded store, and 12 off the 27 that this process has with PostgreSQL.
 */
const insert = `WITH made AS (
    INSERT INTO decisions (account_id, environment, reward_state, ${listOf(ownColumns)}, ${listOf(kindColumns)})
      SELECT $1, $2, 'none', ${listOf(ownColumns)}, ${listOf(kindColumns)}
      FROM (SELECT unnest($${kindNumber}::integer[]) AS number, ${unnest(ownColumns, firstOwn)}) AS own
        JOIN (SELECT generate_subscripts($${firstKind}::text[], 1) AS number,
          ${unnest(kindColumns, firstKind)}) AS kinds USING (number))
  ${addSums(firstSum)}`;

/**
 * Writes decisions of one account and environment, their sums and their events. Hands back whether there
 * is something to deliver.
 */
export async function recordDecisions(
  database: Database,
  writeEvents: WriteEvents,
  items: readonly MadeDecision[],
  options: TransactionOptions = {},
): Promise<boolean> {
  const [first] = items;
  if (!first) return false;
  const { scope } = first;
  const { accountId, environment } = scope;
  const rows = items.map((item) => item.record);
  const values = [accountId, environment, ...encodeDecisions(environment, rows)];
  const events = items.flatMap(({ event }) => event ?? []);
  if (events.length === 0 && options.lockTimeoutMs === undefined) {
    await database.execute(insert, values);
    return false;
  }
  return database.transaction(async (queries) => {
    await queries.execute(insert, values);
    return writeEvents(queries, scope, events);
  }, options);
}
