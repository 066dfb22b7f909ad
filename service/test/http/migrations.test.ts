import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { allMigrations, migrate, type Migration, migrationNames } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startInProcess } from '../in-process.ts';
import { runInProcess } from './command-line.ts';
import { createClient } from './client.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-migrations-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
  let url: string;
  let admin: pg.Client;
  beforeEach(async () => {
    url = await createEmptyPostgresDatabase();
    admin = new pg.Client(url);
    await admin.connect();
    return () => admin.end();
  });
  const env = () => ({ DATABASE_URL: url, TRUEWARD_DATA_DIR: folder, PORT: '0' });

  test('concurrent first starts create one schema and one set of secrets', async () => {
    const key = randomBytes(32).toString('base64');
    const services = await Promise.all(
      Array.from({ length: 4 }, () =>
        startInProcess({ DATABASE_URL: url, TRUEWARD_MASTER_KEY: key }),
      ),
    );
    const { rows } = await admin.query<{ name: string }>('SELECT name FROM migrations');
    expect(rows.map(({ name }) => name).toSorted()).toEqual(migrationNames());
    const keySets = await Promise.all(
      services.map(async ({ url: serviceUrl }) =>
        (await fetch(`${serviceUrl}/.well-known/jwks.json`)).json(),
      ),
    );
    expect(new Set(keySets.map((set) => JSON.stringify(set))).size).toBe(1);
    await Promise.all(services.map((service) => service.stop()));
  });

  test('concurrent first starts in development create one demo account', async () => {
    const dataDir = mkdtempSync(join(folder, 'development-'));
    const TRUEWARD_MASTER_KEY = randomBytes(32).toString('base64');
    const services = await Promise.all(
      [1, 2, 3].map(() =>
        startInProcess({ DATABASE_URL: url, TRUEWARD_MASTER_KEY }, { dataDirectory: dataDir }),
      ),
    );
    const count = async (table: string): Promise<string | undefined> =>
      (await admin.query<{ count: string }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count;
    expect([await count('accounts'), await count('keys')]).toEqual(['1', '4']);
    expect(new Set(services.map(({ keys }) => JSON.stringify(keys))).size).toBe(1);
    for (const service of services) await createClient(service).decideImage('one account');
    await Promise.all(services.map((service) => service.stop()));

    // A key file from another database does not prevent the service from creating an account.
    await admin.query('DELETE FROM accounts');
    const restartedService = await startInProcess(
      { DATABASE_URL: url, TRUEWARD_MASTER_KEY },
      { dataDirectory: dataDir },
    );
    expect(restartedService.keys).not.toEqual(services[0]?.keys);
    await createClient(restartedService).decideImage('another account');
    await restartedService.stop();
  });

  test('an older release can run and restart on an expanded schema', async () => {
    const service = await startInProcess({ DATABASE_URL: url }, { dataDirectory: folder });
    const client = createClient(service);
    await admin.query('ALTER TABLE decisions ADD COLUMN from_newer_release text');
    await admin.query(
      `INSERT INTO migrations (account_id, name, checksum) VALUES ('service', '9000-tomorrow', 'x')`,
    );
    const decision = await client.decideImage('between versions');
    expect((await client.reportStart(decision)).body.results).toMatchObject([
      { status: 'accepted' },
    ]);
    await service.stop();
    const olderService = await startInProcess({ DATABASE_URL: url }, { dataDirectory: folder });
    const response = await createClient(olderService).call(
      'GET',
      `/v1/decisions/${decision.id}`,
      olderService.keys.sandbox.secret,
    );
    expect(response.status).toBe(200);
    await olderService.stop();
    expect((await runInProcess(['migrate'], env())).err).toContain(
      'newer than this build (9000-tomorrow)',
    );

    await admin.query(
      `INSERT INTO migrations (account_id, name, checksum) VALUES ('service', '9010-breaking-split', 'x')`,
    );
    expect(await runInProcess(['migrate'], env())).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        '9010-breaking-split, which this release does not support',
      ) as string,
    });
  });

  test('a database of a different build is refused with one line', async () => {
    await runInProcess(['migrate'], env());
    await admin.query(`UPDATE migrations SET checksum = 'another'`);
    for (const command of [['migrate'], ['start']])
      expect(await runInProcess(command, env())).toMatchObject({
        code: 1,
        err: expect.stringMatching(
          /^[^\n]*created by a different build[^\n]*empty DATABASE_URL[^\n]*\n?$/,
        ) as string,
      });
  });

  test('the error for a blocked migration names the blocking session', async () => {
    await admin.query('CREATE TABLE migration_lock (account_id text PRIMARY KEY)');
    await admin.query(`SET application_name = 'a forgotten shell'`);
    await admin.query('BEGIN');
    await admin.query(`INSERT INTO migration_lock VALUES ('service')`);
    const { rows } = await admin.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const blockedMigration = await runInProcess(['migrate'], { ...env(), MIGRATION_WAIT_S: '2' });
    expect(blockedMigration.code).toBe(1);
    expect(blockedMigration.err).toContain('The migration was blocked for 2 s');
    expect(blockedMigration.err).toContain(
      `session ${rows[0]?.pid} (a forgotten shell, idle in transaction`,
    );

    const database = openPostgres(url, () => undefined);
    const waitMessages: string[] = [];
    const appliedMigrations = await migrate(database, {
      onWait(text) {
        waitMessages.push(text);
        void admin.query('ROLLBACK');
      },
    });
    expect(waitMessages).toHaveLength(1);
    expect(appliedMigrations).toEqual(migrationNames());
    await database.close();
  });

  test('indexes are built without blocking writes, and interrupted builds are restarted', async () => {
    const database = openPostgres(url, () => undefined);
    await migrate(database);
    await admin.query(`CREATE TABLE decisions_20260105 PARTITION OF decisions
      FOR VALUES FROM ('dec_01') TO ('dec_02')`);
    // Leaves an invalid index behind, as a killed index build would.
    await admin.query(
      `INSERT INTO viewers VALUES ('a', 'live', 'same', now()), ('b', 'live', 'same', now())`,
    );
    await expect(
      admin.query('CREATE UNIQUE INDEX CONCURRENTLY viewers_seen ON viewers (viewer)'),
    ).rejects.toThrow('could not create unique index');

    const migrations: readonly Migration[] = [
      ...allMigrations,
      {
        name: '9000-indexes',
        indexes: [
          { name: 'viewers_seen', table: 'viewers', on: '(account_id, seen_at)' },
          {
            name: 'decisions_late',
            table: 'decisions',
            on: '(account_id, late_at) WHERE late_at IS NOT NULL',
          },
        ],
      },
    ];
    await admin.query('BEGIN');
    await admin.query('LOCK TABLE decisions IN ROW EXCLUSIVE MODE'); // the lock that writes acquire
    const appliedMigrations = migrate(database, { migrations });
    const otherClient = new pg.Client(url);
    await otherClient.connect();
    await waitForBlockedBuild(otherClient);
    // A plain CREATE INDEX would block this write until the transaction above ends.
    await otherClient.query('UPDATE decisions SET late_at = now() WHERE false');
    await admin.query('COMMIT');
    expect(await appliedMigrations).toEqual(['9000-indexes']);

    const { rows } = await otherClient.query<{ name: string; valid: boolean }>(
      `SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index
        WHERE indexrelid::regclass::text ~ '^(viewers_seen|decisions_late)' ORDER BY 1`,
    );
    expect(rows).toEqual([
      { name: 'decisions_late', valid: true },
      { name: 'decisions_late_20260105', valid: true },
      { name: 'decisions_late_other', valid: true },
      { name: 'viewers_seen', valid: true },
    ]);
    const { rows: attachedIndexes } = await otherClient.query(
      `SELECT 1 FROM pg_inherits WHERE inhparent = 'decisions_late'::regclass`,
    );
    expect(attachedIndexes).toHaveLength(2);
    expect(await migrate(database, { migrations })).toEqual([]);
    await Promise.all([otherClient.end(), database.close()]);
  });

  test('a role without DDL permissions can start the service on an up-to-date schema', async () => {
    await runInProcess(['migrate'], env());
    await admin.query(`CREATE ROLE worker LOGIN;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO worker;
      REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    const service = await startInProcess({
      DATABASE_URL: url.replace('trueward@', 'worker@'),
      DATABASE_POOL_SIZE: '2',
      DATABASE_POOLER: 'transaction',
    });
    expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ status: 'ok' });
    await createClient(service).decideImage('small');
    const { rows } = await admin.query<{ sessions: string }>(
      `SELECT count(*) AS sessions FROM pg_stat_activity WHERE usename = 'worker'`,
    );
    // Two for ads and deliveries, and up to seven for operators and maintenance.
    expect(Number(rows[0]?.sessions)).toBeLessThanOrEqual(2 + 7);
    await service.stop();
  });
});

/** Resolves once an index build is waiting for a transaction. Only this system view shows such a wait. */
async function waitForBlockedBuild(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `SELECT 1 FROM pg_stat_activity
        WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
  }
}
