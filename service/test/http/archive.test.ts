import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { firstIdAt } from '../../src/platform/ids.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createPartitions, listWeeks } from '../../src/store/partitions.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { readWeekRows } from '../../src/history/week-rows.ts';
import { dropOldWeeks } from '../../src/history/start-upkeep.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startCommand, runInProcess } from './command-line.ts';

const guide = readFileSync(new URL('../../../docs/backup.md', import.meta.url), 'utf8');
/** A Wednesday. */
const oldWeekAtMs = Date.UTC(2026, 8, 30);
const dayMs = 86_400_000;
const weekMs = 7 * dayMs;

/** Stores one week's decisions. Each decision has one event. */
async function storeWeek(database: Database, atMs: number, rows: number): Promise<void> {
  const id = `'${firstIdAt('decision', atMs).slice(0, 14)}' || lpad(n::text, 16, '0')`;
  await database.query(
    `INSERT INTO decisions (account_id, id, environment, status, placement, format, custom_data, issued_at, expires_at, reward_state)
      SELECT 'acc_1', ${id}, 'live', 'no_fill', 'revive', 'rewarded', E'line\\nbreak "quoted" \\\\ ünïcode ' || n,
        timestamptz '2026-01-02 03:04:05.123456+00', now(), 'none' FROM generate_series(1, ${rows}) AS n`,
  );
  await database.query(
    `INSERT INTO timelines (account_id, decision_id, events)
      SELECT 'acc_1', ${id}, '[1790000000000,["f","s",0,0,0]]' FROM generate_series(1, ${rows}) AS n`,
  );
}

test.skipIf(!hasPostgres)(
  'an interrupted archive run resumes, and only archived weeks are dropped',
  async () => {
    const url = await createEmptyPostgresDatabase({ timezone: 'Asia/Tokyo' });
    const folder = mkdtempSync(join(tmpdir(), 'trueward-archive-'));
    const env = { DATABASE_URL: url, ARCHIVE_DIR: folder };
    const database = openPostgres(url, () => undefined);
    await migrate(database);
    await createPartitions(database, oldWeekAtMs);
    await storeWeek(database, oldWeekAtMs, 6_000);
    // An imported week has no partition of its own.
    await storeWeek(database, oldWeekAtMs - 2 * weekMs, 1_500);
    await storeWeek(database, oldWeekAtMs + weekMs, 10);

    // The week is read without a snapshot that lasts.
    const [firstWeek] = await listWeeks(database, oldWeekAtMs);
    if (!firstWeek) throw new Error('Expected a week.');
    let readRows = 0;
    for await (const row of readWeekRows(database, firstWeek)) {
      readRows += 1;
      if (readRows === 1)
        expect(
          await database.query(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
              AND (backend_xmin IS NOT NULL OR state = 'idle in transaction')`,
          ),
        ).toEqual([]);
      expect(JSON.parse(row)).toMatchObject({ account_id: 'acc_1' });
    }
    expect(readRows).toBe(1_500);

    const archive = async () => {
      const { code, out, err } = await runInProcess(['archive', '--before', '2026-10-05'], env);
      expect([code, err]).toEqual([0, expect.any(String)]);
      const lines = out.trimEnd().split('\n');
      return lines.map((line) => JSON.parse(line) as { file: string; written: boolean });
    };
    const names = [
      'decisions_20260914',
      'timelines_20260914',
      'decisions_20260928',
      'timelines_20260928',
      'decision_demand_20260928',
      'tracker_requests_20260928',
    ];
    const interruptedArchive = startCommand(['archive', '--before', '2026-10-05'], env);
    await interruptedArchive.waitForLine(/^1 of 6: decisions_20260914\.jsonl\.gz, 1500 rows$/);
    await interruptedArchive.interrupt();
    const resumedArchive = await archive();
    expect(resumedArchive.map(({ file }) => file)).toEqual(names.map((name) => `${name}.jsonl.gz`));
    expect(resumedArchive[0]?.written).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual(
      names.flatMap((name) => [`${name}.json`, `${name}.jsonl.gz`]).toSorted(),
    );

    // Checks a file against its manifest, then reads it.
    const read = (name: string) => {
      const manifest = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as object;
      const bytes = readFileSync(join(folder, `${name}.jsonl.gz`));
      const rows = gunzipSync(bytes).toString().trimEnd().split('\n');
      return { manifest, bytes, rows };
    };
    const week = read('decisions_20260928');
    expect(week.manifest).toMatchObject({
      table: 'decisions',
      week: '2026-09-28',
      rows: 6_000,
      bytes: week.bytes.length,
      sha256: createHash('sha256').update(week.bytes).digest('hex'),
    });
    expect(JSON.parse(week.rows[6] ?? '')).toMatchObject({
      custom_data: expect.stringMatching(/^line\nbreak "quoted" \\ ünïcode \d+$/) as string,
      issued_at: '2026-01-02T03:04:05.123456+00:00',
    });
    expect(statSync(join(folder, 'decisions_20260928.jsonl.gz')).mode & 0o077).toBe(0);

    // Only truncated or outdated files are rewritten.
    truncateSync(join(folder, 'timelines_20260928.jsonl.gz'), 1_000);
    await database.query(
      `UPDATE decisions SET placement = 'late' WHERE id < '${firstIdAt('decision', oldWeekAtMs - weekMs)}' AND custom_data LIKE '%code 7'`,
    );
    const dropWeeks = (nowMs: number, days = 31) =>
      dropOldWeeks(
        database,
        nowMs,
        { decisionsMs: days * dayMs, auditMs: undefined, archiveDirectory: folder },
        new AbortController().signal,
      );
    // Children's rows are deleted in the day after 30 days. In the archive of a dropped week, they would stay.
    const childlessAtMs = Date.UTC(2026, 8, 21) + 31 * dayMs;
    expect(await dropWeeks(childlessAtMs - 1, 20)).toEqual({ dropped: [], kept: [] });
    expect(await dropWeeks(childlessAtMs)).toEqual({
      dropped: ['timelines_20260914'],
      kept: ['decisions_20260914'],
    });
    const repairedArchive = await archive();
    expect(repairedArchive.map(({ file, written }) => [file.split('.')[0], written])).toEqual([
      ['decisions_20260914', true],
      ['decisions_20260928', false],
      ['timelines_20260928', true],
      ['decision_demand_20260928', false],
      ['tracker_requests_20260928', false],
    ]);
    expect(await dropWeeks(oldWeekAtMs + 2 * weekMs + 31 * dayMs)).toEqual({
      dropped: [
        'decisions_20260914',
        'decisions_20260928',
        'timelines_20260928',
        'decision_demand_20260928',
        'tracker_requests_20260928',
        'webhook_events_20260928',
        'finished_deliveries_20260928',
        'webhook_events_20261005',
        'finished_deliveries_20261005',
      ],
      kept: [
        'decisions_20261005',
        'timelines_20261005',
        'decision_demand_20261005',
        'tracker_requests_20261005',
      ],
    });

    // Restores a week with the commands from the guide.
    const [, commands] = /```sh\n# restore an archived week[^\n]*\n([^`]+)```/.exec(guide) ?? [];
    execFileSync('sh', ['-e', '-c', commands ?? 'exit 9'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], DATABASE_URL: url },
    });
    expect(
      await database.query(
        `SELECT count(*)::bigint AS rows, count(DISTINCT custom_data)::bigint AS texts FROM archived_decisions`,
      ),
    ).toEqual([{ rows: 6_000, texts: 6_000 }]);

    await database.close();
    rmSync(folder, { recursive: true, force: true });
  },
);

test('the archive command rejects an invalid date and a missing target folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-archive-'));
  const env = { TRUEWARD_DATA_DIR: folder };
  expect(
    await runInProcess(['archive', '--before', 'yesterday', '--to', folder], env),
  ).toMatchObject({
    code: 2,
    err: expect.stringContaining('--before must be a date such as 2026-10-01') as string,
  });
  expect(await runInProcess(['archive'], env)).toMatchObject({
    code: 2,
    err: expect.stringContaining('pass --to or set ARCHIVE_DIR') as string,
  });
  rmSync(folder, { recursive: true, force: true });
});
