import { expect, onTestFinished, test } from 'vitest';
import { createRecordReader } from '../../src/decision/player-record.ts';
import { readIntegrationFacts } from '../../src/history/integration-health.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { withArchivedPlacements } from '../../src/reward/archived-placements.ts';
import type { Queries } from '../../src/store/database.ts';
import { listAuditEntries } from '../../src/store/audit-log.ts';
import { ids, openTwinDatabase, scope } from '../twin-accounts.ts';

const nowMs = Date.parse('2099-06-01T00:00:00Z');
const [decisionId = ''] = ids('decision', 1);

test('of a player with more ads than are read, the newest count', async () => {
  const database = await openTwinDatabase();
  onTestFinished(() => database.close());
  // The newest are stored first, and have the smallest ids.
  await database.query(
    `INSERT INTO decisions SELECT (jsonb_populate_record(one, jsonb_build_object(
        'id', left($5, -4) || to_char(n, 'FM0000'), 'viewer', 'player', 'placement', 'revive',
        'issued_at', at, 'expires_at', at, 'late_at', at, 'settled_at', at, 'served_at', at,
        'watch_from', at, 'watch_to', at))).*
      FROM decisions AS one, generate_series(1, 1200) AS n, LATERAL (SELECT $2::timestamptz - n * interval '1 second' AS at) AS times
      WHERE id = $1 AND account_id = $3 AND environment = $4 ORDER BY n`,
    [decisionId, new Date(nowMs), scope.accountId, scope.environment, firstIdAt('decision', nowMs)],
  );
  const [row] = await database.query<{ format: string }>(
    `SELECT format FROM decisions WHERE viewer = 'player' LIMIT 1`,
  );
  const readRecord = createRecordReader({ ...database, execute: database.query });
  const entry = {
    placement: { name: 'revive', cooldown_s: 0, frequency_cap: { max: 5, per_s: 3_600 } },
    pageSources: [],
    adRules: [{}],
  } as never;
  const needed = { formats: [row?.format], windowMs: 3_600_000 } as never;
  const { servedAtMs, seenAds } = await readRecord({ scope, nowMs, entry }, 'player', needed);
  expect(servedAtMs).toEqual([1, 2, 3, 4, 5].map((n) => nowMs - n * 1_000));
  expect(seenAds).toHaveLength(1_000);
  expect(Math.min(...seenAds.map(({ atMs }) => atMs))).toBe(nowMs - 1_000_000);
});

test('of more decisions than the health of an integration counts, the newest count', async () => {
  const database = await openTwinDatabase();
  onTestFinished(() => database.close());
  await database.query(
    `INSERT INTO decisions SELECT (jsonb_populate_record(one, jsonb_build_object(
        'id', left($1, -4) || to_char(n, 'FM0000'), 'viewer', 'player', 'status', 'filled', 'simulate', NULL,
        'reward_state', CASE WHEN n = 1 THEN 'earned' ELSE 'pending' END))).*
      FROM decisions AS one, generate_series(1, 5001) AS n WHERE id = $2 AND account_id = $3 AND environment = $4`,
    [firstIdAt('decision', nowMs + 1_000), decisionId, scope.accountId, scope.environment],
  );
  const { earned, completed } = await readIntegrationFacts(database, scope, nowMs);
  expect([earned, completed]).toEqual([0, 5_000]);
});

test('of the archived placements with one name, the newest counts', async () => {
  const database = await openTwinDatabase();
  onTestFinished(() => database.close());
  const [older, newest] = ids('placement', 1, 3);
  for (const id of [newest, older])
    await database.query(
      `UPDATE resources SET archived_at = created_at, document = document || '{"name": "gone"}'
        WHERE account_id = $1 AND environment = $2 AND id = $3`,
      [scope.accountId, scope.environment, id],
    );
  const snapshot = { placements: new Map() } as never;
  const { placements } = await withArchivedPlacements(database, scope, snapshot, [
    { placement: 'gone' },
  ]);
  expect([...placements].map(([gone, { placement }]) => [gone, placement.id])).toEqual([
    ['gone', newest],
  ]);
});

test('of more audit records than a search looks through, the newest count', async () => {
  const database = await openTwinDatabase();
  onTestFinished(() => database.close());
  await database.query(
    `INSERT INTO audit_entries SELECT (jsonb_populate_record(one, jsonb_build_object(
        'id', left($1, -5) || to_char(n, 'FM00000'), 'action', CASE n WHEN 20001 THEN 'key.created' ELSE 'key.rolled' END))).*
      FROM audit_entries AS one, generate_series(1, 20001) AS n
      WHERE one.id = $2 AND account_id = $3 AND environment = $4`,
    [firstIdAt('auditEntry', nowMs), ...ids('auditEntry', 1), scope.accountId, scope.environment],
  );
  const counts: number[] = [];
  const counting = {
    ...database,
    query: async (...call: Parameters<Queries['query']>) => {
      const rows = await database.query(...call);
      counts.push(rows.length);
      return rows;
    },
  } as Queries;
  const search = async (action: string): Promise<string[]> => {
    const { data } = await listAuditEntries(counting, scope, { limit: 3, action });
    return data.map(({ id }) => id.slice(-5));
  };
  expect(await search('key.created')).toEqual(['20001']);
  expect(await search('key.rolled')).toEqual(['20000', '19999', '19998']);
  // A page reads the records that it shows, and one more.
  expect(counts).toEqual([1, 4]);
});
