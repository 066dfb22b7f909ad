import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Placement } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { startInProcess } from '../in-process.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { runInProcess } from './command-line.ts';

const manyRows = [
  `INSERT INTO audit_entries SELECT 'acc_1', 'aud_' || n, 'live', 'key_1', 'placement.updated', 'plc_' || n, NULL,
      jsonb_build_object('z', n / 7.0, 'a', E'line\\nbreak "quoted" \\\\ ünïcode'), NULL,
      timestamptz '2026-01-02 03:04:05.123456+00' + n * interval '1 second' FROM generate_series(1, 1200) AS n`,
  `INSERT INTO timelines SELECT 'acc_1', 'dec_' || n, '[1795255200000,["event-01","s",0,12,-3]]' FROM generate_series(1, 1200) AS n`,
];
const readAll = `SELECT (SELECT sum(hashtextextended(row_to_json(t)::text, 0)) FROM audit_entries t)::text AS audit,
  (SELECT sum(hashtextextended(row_to_json(t)::text, 0)) FROM timelines t)::text AS timelines`;

test.skipIf(!hasPostgres)(
  'a copy of the embedded database is complete, or the target stays empty',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
    const embeddedService = await startInProcess({}, { dataDirectory: folder });
    const decision = await createClient(embeddedService).decideImage('traveler');
    await createClient(embeddedService).reportStart(decision);
    await embeddedService.stop();
    const source = await openPGlite(join(folder, 'database'), () => undefined);
    for (const statement of manyRows) await source.query(statement);
    await source.query(`SET timezone = 'UTC'`);
    const sourceSums = await source.query(readAll);
    await source.close();

    const url = await createEmptyPostgresDatabase({ timezone: 'Asia/Tokyo' });
    const target = openPostgres(url, () => undefined);
    const copy = () => runInProcess(['copy', '--to', url], { TRUEWARD_DATA_DIR: folder });
    expect(
      (await runInProcess(['migrate'], { DATABASE_URL: url, TRUEWARD_DATA_DIR: folder })).code,
    ).toBe(0);
    const rejectRow = `ALTER TABLE timelines ADD CONSTRAINT broken CHECK (decision_id <> 'dec_777')`;
    await target.query(rejectRow);
    expect((await copy()).code).toBe(1);
    expect(
      await target.query('SELECT 1 FROM audit_entries UNION ALL SELECT 1 FROM accounts'),
    ).toEqual([]);
    await target.query('ALTER TABLE timelines DROP CONSTRAINT broken');
    expect(await copy()).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Copied \d+ rows\.$/m) as string,
    });
    expect(
      await target.transaction(async (queries) => {
        await queries.query(`SET LOCAL timezone = 'UTC'`);
        return queries.query(readAll);
      }),
    ).toEqual(sourceSums);
    expect(await copy()).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^The target database is not empty \(accounts has rows\)\. Use a new one\.$/m,
      ) as string,
    });
    await target.close();

    const service = await startInProcess({ DATABASE_URL: url }, { dataDirectory: folder });
    const client = createClient(service);
    const { body } = await client.call<{ data: Placement[] }>(
      'GET',
      '/v1/placements',
      client.secret,
    );
    expect(body.data.map(({ name }) => name)).toContain('revive');
    const response = await client.call('GET', `/v1/decisions/${decision.id}`, client.secret);
    expect(response.status).toBe(200);
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  },
);
