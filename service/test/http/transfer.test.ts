import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { copyMigratedDatabase } from '../empty-database.ts';
import { startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startCommand, run, runInProcess } from './command-line.ts';

const manyRows = [
  `INSERT INTO audit_entries SELECT 'acc_1', 'aud_' || n, 'live', 'key_1', 'placement.updated', 'plc_' || n, NULL,
      jsonb_build_object('z', n / 7.0, 'a', E'line\\nbreak "quoted" \\\\ ünïcode'), NULL,
      timestamptz '2026-01-02 03:04:05.123456+00' + n * interval '1 second' FROM generate_series(1, 12000) AS n`,
  `INSERT INTO timelines SELECT 'acc_1', 'dec_' || n, '[1795255200000,["event-01","s",0,12,-3]]' FROM generate_series(1, 500) AS n`,
];

test.skipIf(!hasPostgres)(
  'an interrupted import into PostgreSQL resumes and is verified',
  async () => {
    const url = await createPostgresDatabase({ timezone: 'Asia/Tokyo' });
    const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
    const file = join(folder, 'all.jsonl');
    const env = { TRUEWARD_DATA_DIR: folder };
    const targetEnv = { ...env, DATABASE_URL: url };
    await copyMigratedDatabase(join(folder, 'database'));
    const embeddedDatabase = await openPGlite(join(folder, 'database'), () => undefined);
    for (const statement of manyRows) await embeddedDatabase.query(statement);
    await embeddedDatabase.close();
    expect((await run(['export', '--out', file], env)).code).toBe(0);

    const changedFile = join(folder, 'changed.jsonl');
    writeFileSync(changedFile, readFileSync(file, 'utf8').replace('plc_77"', 'plc_78"'));
    expect((await runInProcess(['import', changedFile], targetEnv)).err).toContain(
      'was modified or is truncated (audit_entries)',
    );

    const interruptedImport = startCommand(['import', file], targetEnv);
    await interruptedImport.waitForLine(/^5000 of 12500 rows imported/);
    await interruptedImport.interrupt();
    await expect(startInProcess(targetEnv, { dataDirectory: folder })).rejects.toThrow(
      /is incomplete/,
    );
    const database = openPostgres(url, () => undefined);
    const [progress] = await database.query<{ rows: number }>('SELECT rows FROM import_progress');
    expect([5_000, 10_000, 12_500]).toContain(progress?.rows);
    await database.query(`UPDATE audit_entries SET actor = 'another actor' WHERE id = 'aud_1'`);
    expect((await runInProcess(['import', file], targetEnv)).err).toContain(
      'differs from the file in audit_entries',
    );
    await database.query(`UPDATE audit_entries SET actor = 'key_1' WHERE id = 'aud_1'`);
    const resumedImport = await runInProcess(['import', file], targetEnv);
    expect([resumedImport.code, resumedImport.err]).toEqual([
      0,
      expect.stringContaining('Imported 12500 rows'),
    ]);
    expect(resumedImport.err).not.toContain('5000 of 12500');

    // Exporting the imported data again produces an identical file.
    const secondExport = join(folder, 'back.jsonl');
    expect((await runInProcess(['export', '--out', secondExport], targetEnv)).code).toBe(0);
    const readTrailer = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').at(-1);
    expect(readTrailer(secondExport)).toBe(readTrailer(file));
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  },
);
