import { addRows, type Count, sumCounts } from '../report/rollup.ts';
import { groupByScope } from '../resource/scope.ts';
import type { Database } from '../store/database.ts';
import { createLane, type Lane } from '../store/group-commit.ts';
import type { WriteEvents } from '../webhook/event-writer.ts';
import type { MadeDecision } from './decision-record.ts';

const columns = `id text, status text, reason text, placement text, format text, creative_id text,
  media_format text, advertiser_id text, source_id text, house_ad_id text, user_ref text, viewer text,
  custom_data text, reward jsonb, required_ms integer, invalid_reason text, simulate text, explain jsonb, issued_at timestamptz,
  expires_at timestamptz, late_at timestamptz`;
const names = columns
  .replaceAll(/\s+/g, ' ')
  .split(', ')
  .map((column) => column.split(' ')[0])
  .join(', ');

/** The lane on which decisions are committed together. */
export function createDecisionLane(
  database: Database,
  writeEvents: WriteEvents,
  onEvents: () => void,
): Lane<MadeDecision, void> {
  return createLane({
    async commit(items) {
      await recordDecisions(database, writeEvents, items);
      if (items.some(({ event }) => event)) onEvents();
      return items.map(() => undefined);
    },
  });
}

/** Writes decisions, their sums and their events; those of one account and environment at once. */
export async function recordDecisions(
  database: Database,
  writeEvents: WriteEvents,
  items: readonly MadeDecision[],
): Promise<void> {
  for (const group of groupByScope(items)) await record(database, writeEvents, group);
}

/** A decision and its sums in one statement: on the embedded store each statement is a turn of its thread. */
const insert = `WITH made AS (
    INSERT INTO decisions (account_id, environment, reward_state, ${names})
      SELECT $1, $2, 'none', ${names} FROM jsonb_to_recordset($3::text::jsonb) AS row(${columns}))
  ${addRows('$4')}`;

async function record(
  database: Database,
  writeEvents: WriteEvents,
  group: [MadeDecision, ...MadeDecision[]],
): Promise<void> {
  const { scope } = group[0];
  const values = [
    scope.accountId,
    scope.environment,
    JSON.stringify(group.map(({ record: row }) => row)),
    JSON.stringify(sumCounts(group.flatMap(countsOf))),
  ];
  const events = group.flatMap(({ event }) => event ?? []);
  if (events.length === 0) {
    await database.query(insert, values);
    return;
  }
  await database.transaction(async (queries) => {
    await queries.query(insert, values);
    await writeEvents(queries, scope, events);
  });
}

function countsOf({ scope, record }: MadeDecision): Count[] {
  const count = (metric: string, reason?: string | null): Count => ({
    dimensions: {
      environment: scope.environment,
      placement: record.placement,
      creativeId: record.creative_id,
      sourceId: record.source_id,
      advertiserId: record.advertiser_id,
      houseAdId: record.house_ad_id,
    },
    atMs: Date.parse(record.issued_at),
    metric,
    ...(reason ? { reason } : {}),
  });
  return [count('requests'), count(record.status, record.reason)];
}
