import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Queries } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { claimDue } from '../../src/webhook/delivery-store.ts';
import { recordAttempts } from '../../src/webhook/record-attempts.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

const backlogSize = 20_000;
const scope = { accountId: 'acc_1', environment: 'live' as const };

describe.runIf(hasPostgres)('with 20,000 deliveries pending for a dead endpoint', () => {
  let database: Database;
  beforeAll(async () => {
    database = openPostgres(await createPostgresDatabase(), () => undefined);
    await migrate(database);
    await database.query(
      `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
        SELECT 'acc_1', 'live', 'webhook', id, '{}', 1, now(), now() FROM unnest(ARRAY['whk_dead', 'whk_1']) AS id`,
    );
    await database.query(`INSERT INTO webhook_failures VALUES ('acc_1', 'whk_dead', now(), 9)`);
    await database.query(
      `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
        SELECT 'acc_1', webhook_id || '_' || n, 'live', 'evt_' || n, webhook_id, 0, now(), now()
        FROM (VALUES ('whk_dead', $1::integer), ('whk_1', 200)) AS of(webhook_id, count), generate_series(1, count) AS n`,
      [backlogSize],
    );
  });
  afterAll(() => database.close());

  /** Returns how many pages of the `delivery_queue` table `work` reads. */
  const countPages = async (work: (queries: Queries) => Promise<unknown>): Promise<number> =>
    database.transaction(async (queries) => {
      const countReadPages = async (): Promise<number> => {
        const [row] = await queries.query<{ pages: number }>(
          `SELECT pg_stat_get_xact_blocks_fetched('delivery_queue'::regclass) AS pages`,
        );
        return row?.pages ?? NaN;
      };
      const pagesBefore = await countReadPages();
      await work(queries);
      return (await countReadPages()) - pagesBefore;
    });

  // Until the first ANALYZE, the query planner assumes that the table is empty.
  test.each([{ when: 'before' }, { when: 'after' }])(
    'claiming and recording deliveries reads few pages $when the first ANALYZE',
    async ({ when }) => {
      if (when === 'after') await database.query('ANALYZE');
      const capacity = { accountId: 'acc_1', webhookId: 'whk_1', free: 20 };
      const claimOptions = {
        endpoints: [capacity],
        perEndpoint: 4,
        accounts: [],
        perAccount: 100,
        limit: 100,
        leaseMs: 20_000,
        nowMs: Date.now(),
      };
      let claimedDeliveries: Awaited<ReturnType<typeof claimDue>> = [];
      const claim = async (queries: Queries): Promise<void> => {
        claimedDeliveries = await claimDue(queries, claimOptions);
      };
      expect(await countPages(claim)).toBeLessThan(400);
      expect(claimedDeliveries.filter(({ webhookId }) => webhookId === 'whk_1')).toHaveLength(20);
      const attempts = claimedDeliveries.map((delivery) => ({
        scope,
        delivery,
        result: { startedAtMs: 0, latencyMs: 1, status: 200 },
        next: { state: 'delivered' as const },
        concernsHealth: true,
      }));
      const record = (queries: Queries) =>
        recordAttempts({ ...database, query: queries.query }, attempts.filter(isHealthy));
      expect(await countPages(record)).toBeLessThan(400);
    },
  );
});

test.runIf(hasPostgres)('leasing a delivery does not add index entries', async () => {
  const database = openPostgres(await createPostgresDatabase(), () => undefined);
  await migrate(database);
  await database.query(
    `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
      SELECT 'acc_1', 'del_' || n, 'live', 'evt_' || n, 'whk_1', 0, now(), now() FROM generate_series(1, 1000) AS n`,
  );
  const hotUpdates = await database.transaction(async (queries) => {
    // Leases the deliveries in batches, the way a claim does.
    for (let firstNumber = 1; firstNumber <= 200; firstNumber += 10)
      await queries.query(
        `UPDATE delivery_queue SET lease_until = now() WHERE id IN (SELECT 'del_' || n FROM generate_series($1::integer, $1 + 9) AS n)`,
        [firstNumber],
      );
    const [row] = await queries.query<{ count: number }>(
      `SELECT pg_stat_get_xact_tuples_hot_updated('delivery_queue'::regclass)::integer AS count`,
    );
    return row?.count ?? NaN;
  });
  await database.close();
  // Not all of the 200 updates are HOT, because some pages fill up. Without reserved space in its pages, the table
  // would have no HOT updates.
  expect(hotUpdates).toBeGreaterThan(50);
});

const isHealthy = ({ delivery }: { delivery: { webhookId: string } }): boolean =>
  delivery.webhookId === 'whk_1';
