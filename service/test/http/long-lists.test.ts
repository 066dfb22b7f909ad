import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlayerTokens } from '../../src/access/player-tokens.ts';
import { reencrypt } from '../../src/access/secret-box.ts';
import { exportPlayer } from '../../src/history/export-player.ts';
import type { Database } from '../../src/store/database.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { listWeeks } from '../../src/store/partitions.ts';
import { accountId, ids, openTwinDatabase } from '../twin-accounts.ts';
import { openEmptyDatabase } from '../empty-database.ts';

// What is read page by page: each row once, in order, also those at the edges of pages.

const scope = { accountId: 'acc_1', environment: 'live' } as const;

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

test('an export has each entry of a long wallet once, in order', async () => {
  await database.query(
    `INSERT INTO wallet_entries SELECT 'acc_1', 'live', 'player', 'entry' || n, 'reward', 'coins', 1, NULL, NULL, n, n, now()
      FROM generate_series(1, 250) AS n ORDER BY n % 7`,
  );
  await database.query(
    `INSERT INTO wallet_balances SELECT 'acc_1', 'live', 'player', type, 250, NULL, 250
      FROM unnest(ARRAY['stars', 'coins', 'lives']) AS type`,
  );
  // Their hashes are in another order than their times.
  await database.query(
    `INSERT INTO player_tokens SELECT 'acc_1', 'live', 'hash' || 9 - n, 'ply_1', 'player', now() + n * interval '1 hour', now()
      FROM generate_series(1, 3) AS n`,
  );
  const [entries, balances, devices]: unknown[][] = [[], [], []];
  for await (const line of exportPlayer(database, scope, 'player', () => '{}')) {
    const { record, version, type, created_at: createdAt } = line as Record<string, unknown>;
    if (record === 'wallet_entry') entries?.push(Number(version));
    if (record === 'wallet_balance') balances?.push(type);
    if (record === 'device') devices?.push(Number(createdAt));
  }
  expect(entries).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  expect(balances).toEqual(['coins', 'lives', 'stars']);
  expect(devices).toHaveLength(3);
  expect(devices).toEqual(devices?.toSorted());
});

test('a player’s devices are listed in the order in which they were linked', async () => {
  await database.query(
    `INSERT INTO player_tokens SELECT 'acc_1', 'live', 'linked' || n, 'ply_2', 'other', now() - n * interval '1 hour', now()
      FROM generate_series(1, 3) AS n`,
  );
  const tokens = createPlayerTokens({ tokenSecret: 'secret', pseudonym: () => 'other' } as never);
  const times = (await tokens.listDevices(database, scope, 'ply_2')).map(
    ({ linked_at: linkedAt }) => linkedAt,
  );
  expect(times).toHaveLength(3);
  expect(times).toEqual(times.toSorted());
});

test('an export has each of many decisions and webhook events once, in order', async () => {
  const numbers = Array.from({ length: 250 }, (_, n) => String(n).padStart(3, '0'));
  const start = firstIdAt('decision', Date.parse('2026-06-01T00:00:00Z')).slice(4, -3);
  await database.query(
    `INSERT INTO decisions (account_id, id, environment, viewer, status, placement, format, issued_at, expires_at, late_at, reward_state)
      SELECT 'acc_1', 'dec_' || $1 || n, 'live', 'watcher', 'no_fill', 'revive', 'rewarded', now(), now(), now(), 'none'
        FROM unnest($2::text[]) AS n ORDER BY n DESC`,
    [start, numbers],
  );
  await database.query(
    `INSERT INTO webhook_events (account_id, id, environment, viewer, type, body, created_at)
      SELECT 'acc_1', 'evt_' || $1 || n, 'live', 'watcher', 'decision.served', '{"id":"evt_' || $1 || n || '"}', now()
        FROM unnest($2::text[]) AS n ORDER BY n DESC`,
    [start, numbers],
  );
  const found: Record<string, string[]> = {};
  for await (const line of exportPlayer(database, scope, 'watcher', (body) => body)) {
    const { record, id } = line as { record: string; id: string };
    (found[record] ??= []).push(id);
  }
  const idsOf = (prefix: string) => numbers.map((n) => prefix + start + n);
  expect(Object.values(found)).toEqual([idsOf('dec_'), idsOf('evt_')]);
});

test('each week without a partition is listed, also if its only row has the first of all ids', async () => {
  const twins = await openTwinDatabase();
  const weekMs = 7 * 86_400_000;
  // The week of all other decisions.
  const firstMs = Date.parse('2099-06-01T00:00:00Z');
  const laterMs = firstMs + weekMs;
  const [first = ''] = ids('decision', 1);
  await twins.query('UPDATE decisions SET id = $1 WHERE id = $2 AND account_id = $3', [
    firstIdAt('decision', laterMs),
    first,
    accountId,
  ]);
  const weeks = (await listWeeks(twins, laterMs + weekMs)).filter(
    ({ table, isPartition }) => table === 'decisions' && !isPartition,
  );
  await twins.close();
  expect(weeks.map(({ fromMs }) => fromMs)).toEqual([firstMs, laterMs]);
});

test('each of many secrets is encrypted again once', async () => {
  await database.query(
    `INSERT INTO secrets SELECT 'acc_1', 'webhook', 'whk_' || n, '1.old', now() FROM generate_series(1, 501) AS n`,
  );
  const box = { open: (text: string) => text, seal: () => '1.new' };
  expect(await reencrypt(database, box as never)).toBe(501);
  expect(
    await database.query(`SELECT DISTINCT sealed FROM secrets WHERE account_id = 'acc_1'`),
  ).toEqual([{ sealed: '1.new' }]);
});
