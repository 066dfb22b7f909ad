import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '../../../service/src/platform/clock.ts';
import { createIds } from '../../../service/src/platform/ids.ts';
import { migrate } from '../../../service/src/store/migrate.ts';
import { makePartitions } from '../../../service/src/store/partitions.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';

const makeId = createIds(systemClock, randomBytes);
const atATime = 1_000;
const connections = 4;
const perDecision = 7;

const insert = `INSERT INTO ad_events (account_id, decision_id, id, type, occurred_at, received_at, offset_ms, clamped, watched_ms)
  SELECT 'acc_1', * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[], $7::boolean[], $8::integer[])`;

/** Events per second that PostgreSQL stores in the table of the service, without a look at anything. */
export async function measureInserts(databaseUrl: string, ms: number): Promise<number> {
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  await migrate(database);
  await makePartitions(database, Date.now());
  const insertSome = async (): Promise<void> => {
    let decisionId = '';
    const rows = Array.from({ length: atATime }, (_, index) => {
      if (index % perDecision === 0) decisionId = makeId('decision');
      return { decisionId, id: randomUUID(), type: 'midpoint', atMs: Date.now() };
    });
    const times = rows.map(({ atMs }) => new Date(atMs).toISOString());
    await database.execute(insert, [
      rows.map((row) => row.decisionId),
      rows.map(({ id }) => id),
      rows.map(({ type }) => type),
      times,
      times,
      rows.map(() => 3),
      rows.map(() => false),
      rows.map(() => null),
    ]);
  };
  let count = 0;
  const work = async (untilMs: number): Promise<void> => {
    while (performance.now() < untilMs) {
      await insertSome();
      count += atATime;
    }
  };
  const window = async (): Promise<number> => {
    count = 0;
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: connections }, () => work(startedMs + ms)));
    return (count * 1_000) / (performance.now() - startedMs);
  };
  await window();
  const perSecond = await window();
  await database.close();
  return perSecond;
}
