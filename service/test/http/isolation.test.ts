import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem } from '@trueward/protocol/wire';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/program/cli/run-service.ts';
import { systemClock } from '../../src/platform/time.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import { addAccount } from '../add-account.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { countLockWaits, createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Client, createClient } from './client.ts';

/** Processes with a shared database need the same master key. */
const masterKey = Buffer.alloc(32, 1).toString('base64');

describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
  const logLines: Record<string, unknown>[] = [];
  let databaseUrl: string;
  let runningService: InProcessService;
  let [sandbox, live]: Client[] = [];
  beforeAll(async () => {
    databaseUrl = await createPostgresDatabase();
    const write = (line: string): void =>
      void logLines.push(JSON.parse(line) as (typeof logLines)[0]);
    runningService = await startInProcess(
      {
        DATABASE_URL: databaseUrl,
        TRUEWARD_MASTER_KEY: masterKey,
        DATABASE_LOCK_TIMEOUT_MS: '1500',
        RATE_LIMITS: 'off',
      },
      { log: createLog('warn', { write }) },
    );
    sandbox = createClient(runningService, 'sandbox');
    live = createClient(runningService, 'live');
  });
  afterAll(() => runningService.stop());

  const clients = () => {
    if (!sandbox || !live) throw new Error('The service has not started.');
    return { sandbox, live };
  };
  /** Opens a session the way an operator would with `psql`. */
  const openSession = async (): Promise<pg.Client> => {
    const session = new pg.Client({ connectionString: databaseUrl, application_name: 'psql' });
    await session.connect();
    onTestFinished(() => session.end());
    return session;
  };
  const decide = (client: Client, userRef: string) =>
    client.call<Partial<Problem> & { id: string; token: string }>(
      'POST',
      '/v1/decisions',
      client.publishable,
      { placement: 'revive', user_ref: userRef, formats: ['image'] },
    );
  test('a locked row delays only decisions in its environment', async () => {
    const { sandbox: blockedClient, live: unblockedClient } = clients();
    const operator = await openSession();
    await operator.query('CREATE TABLE lock_target AS SELECT 1 AS id');
    await operator.query(`CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM FROM lock_target FOR UPDATE; RETURN NEW; END $$`);
    await operator.query(`CREATE TRIGGER wait_for_lock BEFORE INSERT ON decisions FOR EACH ROW
      WHEN (NEW.environment = 'sandbox') EXECUTE FUNCTION wait_for_lock()`);
    await operator.query('BEGIN');
    await operator.query('SELECT FROM lock_target FOR UPDATE');
    const { rows } = await operator.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');

    let rejectedCount = 0;
    const waitingRequests = Array.from({ length: 20 }, (_, index) =>
      decide(blockedClient, `blocked-${index}`).finally(() => {
        rejectedCount += 1;
      }),
    );
    await expect.poll(() => countLockWaits(runningService.service.database)).toBeGreaterThan(0);
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => decide(unblockedClient, `free-${index}`)),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(rejectedCount).toBe(0);
    for (const { status, body, headers } of await Promise.all(waitingRequests)) {
      expect([status, body.code]).toEqual([503, 'unavailable']);
      expect(headers.get('retry-after')).toBe('1');
    }
    const logEntry = logLines.find(({ lane }) => lane === 'decisions');
    expect(logEntry).toMatchObject({ environment: 'sandbox', level: 40 });
    expect(logEntry?.['blockers']).toContain(`session ${rows[0]?.pid} (psql, idle in transaction`);
    // The service must not report an outage.
    expect(logLines.map(({ msg }) => msg)).not.toContain(
      'the database is unreachable; rejecting requests',
    );

    await operator.query('ROLLBACK');
    expect((await decide(blockedClient, 'again')).status).toBe(200);
    await operator.query('DROP FUNCTION wait_for_lock CASCADE');
  });

  test.each([
    {
      what: 'lists',
      lock: 'LOCK TABLE finished_deliveries',
      request: (client: Client, id: string) =>
        client.call('GET', `/v1/webhooks/${id}/deliveries?state=failed`, client.secret),
    },
    {
      what: 'changes',
      lock: 'SELECT FROM config_versions FOR UPDATE',
      request: (client: Client, id: string) =>
        client.call('PATCH', `/v1/webhooks/${id}`, client.secret, { status: 'disabled' }),
    },
  ])(
    '12 $what that wait for a lock delay no ad and no emergency stop',
    async ({ what, lock, request }) => {
      const { sandbox: client } = clients();
      const webhook = await client.call<{ id: string }>('POST', '/v1/webhooks', client.secret, {
        url: 'https://hooks.example/stuck',
        events: ['decision.rewarded'],
      });
      const operator = await openSession();
      await operator.query('BEGIN');
      await operator.query(lock);
      let finished = 0;
      const stuck = Array.from({ length: 12 }, () =>
        request(client, webhook.body.id).finally(() => (finished += 1)),
      );
      await expect.poll(() => countLockWaits(runningService.service.database)).toBeGreaterThan(0);
      const decisions = await Promise.all(
        Array.from({ length: 8 }, (_, index) => decide(client, `beside-${what}-${index}`)),
      );
      expect(decisions.map(({ status }) => status)).toEqual(Array(8).fill(200));
      if (what === 'lists') {
        const killSwitch = { scope: 'placement', target_id: 'lobby', state: 'on' };
        const stop = await client.call('POST', '/v1/kill-switches', client.secret, killSwitch);
        expect(stop.status).toBe(201);
      }
      // If they shared their connections, at least eight would have to end before the first decision.
      expect(finished).toBeLessThan(8);
      await operator.query('ROLLBACK');
      await Promise.all(stuck);
    },
  );

  test('a list of pending deliveries does not read the finished ones', async () => {
    const { sandbox: client } = clients();
    const { id } = await client.manage<{ id: string }>('POST', '/v1/webhooks', {
      url: 'https://hooks.example/pending',
      events: ['decision.rewarded'],
    });
    const operator = await openSession();
    await operator.query('BEGIN');
    await operator.query('LOCK TABLE finished_deliveries');
    const list = `/v1/webhooks/${id}/deliveries?state=pending`;
    expect((await client.call('GET', list, client.secret)).status).toBe(200);
    await operator.query('ROLLBACK');
  });

  test.each([
    ['that the database cannot store', '22P02'],
    // This SQLSTATE belongs to the connection-error class, even though the connection still works.
    ['that the database rejects as a malformed message', '08P01'],
  ])('a decision %s does not affect other decisions in the same commit', async (_what, code) => {
    const { sandbox: client, live: otherClient } = clients();
    const operator = await openSession();
    await operator.query(`CREATE OR REPLACE FUNCTION reject_poison() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'poison' USING ERRCODE = '${code}'; END $$`);
    await operator.query(`CREATE TRIGGER reject_poison BEFORE INSERT ON decisions FOR EACH ROW
      WHEN (NEW.user_ref = 'poison') EXECUTE FUNCTION reject_poison()`);
    try {
      const users = Array.from({ length: 40 }, (_, index) => `player-${index}`);
      users[17] = 'poison';
      const [responses, otherResponses] = await Promise.all([
        Promise.all(users.map((user) => decide(client, user))),
        Promise.all(users.map((_, index) => decide(otherClient, `other-${index}`))),
      ]);
      expect(responses.map(({ status }) => status)).toEqual(
        users.map((user) => (user === 'poison' ? 500 : 200)),
      );
      expect(new Set(otherResponses.map(({ status }) => status))).toEqual(new Set([200]));
      const { rows } = await operator.query<{ id: string }>(
        `SELECT id FROM decisions WHERE id = ANY($1)`,
        [responses.flatMap(({ body }) => body.id ?? [])],
      );
      expect(rows).toHaveLength(39);
    } finally {
      await operator.query('DROP FUNCTION reject_poison() CASCADE');
    }
  });

  test('a locked decision delays only its own events', async () => {
    const { sandbox: client } = clients();
    const names = Array.from({ length: 30 }, (_, index) => `watcher-${index}`);
    const decisions = await Promise.all(names.map((name) => client.decideImage(name)));
    const lockedDecision = decisions[11];
    if (!lockedDecision) throw new Error('There are fewer than twelve decisions.');
    const operator = await openSession();
    await operator.query('BEGIN');
    await operator.query('SELECT FROM decisions WHERE id = $1 FOR UPDATE', [lockedDecision.id]);
    const reports = decisions.map(async (decision) => {
      const response = await client.report(client.createEvent(decision, 'start'));
      return response.status === 200 ? response.body.results[0]?.status : response.status;
    });
    expect(await Promise.all(reports)).toEqual(
      decisions.map((decision) => (decision === lockedDecision ? 503 : 'accepted')),
    );
    await operator.query('ROLLBACK');
    const repeatedReport = await client.report(client.createEvent(lockedDecision, 'start'));
    expect(repeatedReport.body.results[0]?.status).toBe('accepted');
  });

  test("one account's locked rows do not delay other accounts' rewards", async () => {
    const { sandbox: client } = clients();
    const [lockedDecision, otherDecision] = [
      await client.decideImage('late-1'),
      await client.decideImage('late-2'),
    ];
    const operator = await openSession();
    for (const [id, accountId] of [
      [lockedDecision.id, 'acc_1'],
      [otherDecision.id, 'acc_2'],
    ] as const) {
      await addAccount(runningService.service.database, accountId);
      await operator.query(
        `UPDATE decisions SET account_id = $2, reward_state = 'pending' WHERE id = $1`,
        [id, accountId],
      );
    }
    await operator.query('BEGIN');
    await operator.query('SELECT FROM decisions WHERE id = $1 FOR UPDATE', [lockedDecision.id]);
    const failedAccountIds: string[] = [];
    const { database } = runningService.service;
    // By this time, all late windows have ended.
    const clock = { ...systemClock, nowMs: () => Date.now() + 30 * 86_400_000 };
    const expire = () =>
      expireRewards(database, clock, (accountId) => void failedAccountIds.push(accountId));
    expect(await expire()).toEqual([otherDecision.id]);
    expect(failedAccountIds).toEqual(['acc_1']);
    await operator.query('ROLLBACK');
    expect(await expire()).toEqual([lockedDecision.id]);
  });

  const countWaitingRequests = async (): Promise<number> =>
    Number(/^trueward_held_requests (\d+)$/m.exec(await readMetrics())?.[1]);
  /** Returns the number of statements and transactions that the service has executed. */
  const countStatements = async (): Promise<number> => {
    const text = await readMetrics();
    const counts = text.matchAll(/^trueward_database_duration_seconds_count\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  const readMetrics = async (): Promise<string> =>
    (await fetch(`${runningService.url}/metrics`)).text();

  test('/metrics counts the connections of every pool', async () => {
    const operator = await openSession();
    const read = async (): Promise<{ metric: number; server: number }> => {
      const [, open] =
        /trueward_database_connections\{of="open"\} (\S+)/.exec(await readMetrics()) ?? [];
      const { rows } = await operator.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
      return { metric: Number(open), server: rows[0]?.count ?? NaN };
    };
    // Connections may open and close between the two.
    await expect
      .poll(async () => {
        const { metric, server } = await read();
        return metric > 1 && metric === server;
      })
      .toBe(true);
  });

  test('repeated scrapes of /metrics read a bounded number of deliveries', async () => {
    const operator = await openSession();
    await operator.query(
      `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
        SELECT 'acc_busy', 'del_' || number, 'live', 'evt_1', 'whk_1', 1, now() + interval '1 day', now()
        FROM generate_series(1, 20000) AS number`,
    );
    const readStatistics = async () => {
      const { rows } = await operator.query<{ scans: number; rows: number }>(
        `SELECT idx_scan::int AS scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows
          FROM pg_stat_user_tables WHERE relname = 'delivery_queue'`,
      );
      return rows[0] ?? { scans: 0, rows: 0 };
    };
    await operator.query('ANALYZE delivery_queue');
    const statisticsBefore = await readStatistics();
    for (let scrape = 0; scrape < 20; scrape += 1) await readMetrics();
    expect(await readMetrics()).toMatch(/^trueward_webhook_deliveries_pending \d+$/m);
    // Each scrape reads the oldest due delivery. PostgreSQL flushes a session's statistics only when the session is
    // idle.
    await expect
      .poll(async () => (await readStatistics()).scans - statisticsBefore.scans, {
        timeout: 20_000,
      })
      .toBeGreaterThan(20);
    expect((await readStatistics()).rows - statisticsBefore.rows).toBeLessThan(15_000);
    await operator.query(`DELETE FROM delivery_queue WHERE account_id = 'acc_busy'`);
  });

  test('requests that wait for a reward share their database queries', async () => {
    const { sandbox: client } = clients();
    const otherService = await startInProcess({
      DATABASE_URL: databaseUrl,
      TRUEWARD_MASTER_KEY: masterKey,
      RATE_LIMITS: 'off',
    });
    onTestFinished(() => otherService.stop());
    const decisions = await Promise.all(
      Array.from({ length: 50 }, (_, index) => client.decideImage(`waiting-${index}`)),
    );
    const waitingRequests = decisions.flatMap(({ id }) =>
      Array.from({ length: 4 }, () =>
        client.call<{ state: string }>('GET', `/v1/decisions/${id}?wait_s=25`, client.secret),
      ),
    );
    // Each waiting request has read its reward once.
    await expect.poll(countWaitingRequests).toBe(200);
    const [statementsBefore, startedAtMs] = [await countStatements(), performance.now()];
    await sleep(3_000);
    const statementsPerS =
      ((await countStatements()) - statementsBefore) / ((performance.now() - startedAtMs) / 1_000);
    // Even an idle process executes statements. All waiting requests share one additional poll.
    expect(statementsPerS).toBeLessThan(40);

    const otherClient = createClient({ url: otherService.url, keys: runningService.keys });
    for (const decision of decisions)
      await otherClient.report(
        otherClient.createEvent(decision, 'start'),
        otherClient.createEvent(decision, 'complete', { watched_ms: 5_000 }),
      );
    const states = (await Promise.all(waitingRequests)).map(({ body }) => body.state);
    expect(new Set(states)).not.toContain('none');
    expect(await countWaitingRequests()).toBe(0);
  });
});
