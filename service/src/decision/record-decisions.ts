import { addSums, type Count, hourMs, sumCounts } from '../report/rollup.ts';
import { groupByScope, type Scope } from '../resource/scope.ts';
import { integerArray, textArray, timeArray } from '../store/binary-arrays.ts';
import type { Database } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import type { OpenLane } from '../trace/tracing.ts';
import type { WriteEvents } from '../webhook/event-writer.ts';
import type { DecisionRecord, MadeDecision } from './decision-record.ts';

/** A column, and how the values of a group of rows are sent. */
interface Column {
  name: keyof DecisionRecord;
  type: 'text' | 'jsonb' | 'integer' | 'timestamptz';
  encode(rows: readonly DecisionRecord[]): Buffer;
}
type NameOf<T> = {
  [K in keyof DecisionRecord]: DecisionRecord[K] extends T | null ? K : never;
}[keyof DecisionRecord];

const text = (name: NameOf<string>): Column => ({
  name,
  type: 'text',
  encode: (rows) => textArray(rows.map((row) => row[name])),
});
const json = (name: NameOf<object>): Column => ({
  name,
  type: 'jsonb',
  encode: (rows) =>
    textArray(rows.map((row) => (row[name] === null ? null : JSON.stringify(row[name])))),
});
const integer = (name: NameOf<number>): Column => ({
  name,
  type: 'integer',
  encode: (rows) => integerArray(rows.map((row) => row[name])),
});
const time = (name: NameOf<Date>): Column => ({
  name,
  type: 'timestamptz',
  encode: (rows) => timeArray(rows.map((row) => row[name]?.getTime())),
});

const columns: readonly Column[] = [
  text('id'),
  text('status'),
  text('reason'),
  text('placement'),
  text('format'),
  text('creative_id'),
  text('media_format'),
  text('advertiser_id'),
  text('source_id'),
  text('house_ad_id'),
  text('user_ref'),
  text('viewer'),
  text('custom_data'),
  json('reward'),
  integer('required_ms'),
  text('invalid_reason'),
  text('simulate'),
  json('explain'),
  time('issued_at'),
  time('expires_at'),
  time('late_at'),
];

/** The lane on which decisions are committed together. */
export function createDecisionLane(
  database: Database,
  writeEvents: WriteEvents,
  onEvents: () => void,
  openLane: OpenLane,
): Lane<MadeDecision, void> {
  return openLane({
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

const names = columns.map(({ name }) => name).join(', ');
const firstArray = 3;
const sent = columns.map(
  ({ type }, index) => `$${firstArray + index}::${type === 'jsonb' ? 'text' : type}[]`,
);
const stored = columns.map(({ name, type }) => `${name}::${type}`);

/** A decision and its sums in one statement: on the embedded store each statement is a turn of its thread. */
const insert = `WITH made AS (
    INSERT INTO decisions (account_id, environment, reward_state, ${names})
      SELECT $1, $2, 'none', ${stored.join(', ')} FROM unnest(${sent.join(', ')}) AS row(${names}))
  ${addSums(firstArray + columns.length)}`;

async function record(
  database: Database,
  writeEvents: WriteEvents,
  group: [MadeDecision, ...MadeDecision[]],
): Promise<void> {
  const { scope } = group[0];
  const rows = group.map((item) => item.record);
  const values = [
    scope.accountId,
    scope.environment,
    ...columns.map(({ encode }) => encode(rows)),
    ...sumCounts(countsOf(scope, rows)),
  ];
  const events = group.flatMap(({ event }) => event ?? []);
  if (events.length === 0) {
    await database.execute(insert, values);
    return;
  }
  await database.transaction(async (queries) => {
    await queries.execute(insert, values);
    await writeEvents(queries, scope, events);
  });
}

/** What there is to count; decisions that are alike are counted at once. */
function countsOf({ environment }: Scope, rows: readonly DecisionRecord[]): Count[] {
  const alike = new Map<string, { row: DecisionRecord; times: number }>();
  for (const row of rows) {
    const { placement, status, reason, house_ad_id, creative_id, source_id, advertiser_id } = row;
    const hour = Math.floor(row.issued_at.getTime() / hourMs);
    const key = `${hour} ${placement} ${status} ${reason} ${house_ad_id} ${creative_id} ${source_id} ${advertiser_id}`;
    const found = alike.get(key);
    if (found) found.times += 1;
    else alike.set(key, { row, times: 1 });
  }
  return [...alike.values()].flatMap(({ row, times }) => {
    const dimensions = {
      environment,
      placement: row.placement,
      creativeId: row.creative_id,
      sourceId: row.source_id,
      advertiserId: row.advertiser_id,
      houseAdId: row.house_ad_id,
    };
    const count = { dimensions, atMs: row.issued_at.getTime(), times };
    return [
      { ...count, metric: 'requests' },
      { ...count, metric: row.status, ...(row.reason === null ? {} : { reason: row.reason }) },
    ];
  });
}
