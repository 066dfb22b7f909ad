import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DemandRecord } from '../../src/demand/offer.ts';
import { storeRequests, listNewlyDueTrackers } from '../../src/demand/trackers.ts';
import { createSecretBox } from '../../src/access/secret-box.ts';
import { systemClock } from '../../src/platform/time.ts';
import { createIds } from '../../src/platform/ids.ts';
import type { Database } from '../../src/store/database.ts';
import type { LaneDeps } from '../../src/store/lanes.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import { createRequestLanes, startTrackerDispatcher } from '../../src/demand/tracker/dispatcher.ts';
import { createTrackerSender } from '../../src/demand/tracker/make-request.ts';
import { createGuardedAgent } from '../../src/platform/guarded-agent.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { createPostgresDatabase } from '../postgres-database.ts';
import { engines } from './tracker-game.ts';
import { startTrackerServer, type TrackerServer } from './tracker-server.ts';
import { ownRows } from '../neighbor.ts';

const scope = { accountId: 'acc_1', environment: 'sandbox' } as const;
const makeId = createIds(systemClock, randomBytes);
const box = createSecretBox([randomBytes(32)]);
const lanes: LaneDeps = {
  name: 'trackers',
  openLane: noTracing.lane('trackers'),
  gate: { run: (_owner, work) => work() },
  log: pino({ level: 'silent' }),
};
/** The leases are short because the tests wait for them to expire. */
const leaseMs = 1_500;

describe.each(engines)('on %s', (engine) => {
  let database: Database;
  let server: TrackerServer;
  const agent = createGuardedAgent({ loopback: true });
  const agents = { strict: agent, development: agent };
  beforeAll(async () => {
    database =
      engine === 'PGlite'
        ? await openEmptyDatabase()
        : openPostgres(await createPostgresDatabase(), () => undefined);
    await migrate(database);
    await database.query(`INSERT INTO accounts VALUES ('acc_1', 'one', now())`);
    await database.query(`INSERT INTO accounts VALUES ('acc_2', 'two', now())`);
  });
  afterAll(async () => {
    await database.close();
    agent.destroy();
  });
  beforeEach(async () => void (server = await startTrackerServer()));
  afterEach(async () => {
    await server.close();
    await database.query(`DELETE FROM tracker_requests WHERE ${ownRows}`);
  });

  /** Stores a verified impression's tracker requests, the way the service does. */
  async function storeImpression(url: string, owner: string = scope.accountId): Promise<string> {
    const id = makeId('decision');
    const chosen: NonNullable<DemandRecord['chosen']> = {
      sourceId: 'src_1',
      priceMicros: 0,
      currency: 'USD',
      trackers: {
        byEvent: {
          impression: [`${url}/${id}/impression-a`, `${url}/${id}/impression-b`],
          start: [`${url}/${id}/start`],
        },
        progress: [],
        burl: `${url}/${id}/burl`,
        macros: {},
      },
      impressionOn: 'verified',
      headerProfile: 'iab',
      trackUntilMs: 0,
      limitAdTracking: true,
    };
    await database.query(`INSERT INTO decision_demand VALUES ($1, $2, $3::text::jsonb)`, [
      owner,
      id,
      JSON.stringify({ chosen, notices: [] }),
    ]);
    const previousPlayback = { verified: false, types: new Set<never>(), watchedMs: 0 };
    const currentPlayback = { verified: true, types: new Set(['start'] as const), watchedMs: 0 };
    await storeRequests(
      database,
      { ...scope, accountId: owner },
      listNewlyDueTrackers(chosen, previousPlayback, currentPlayback).map((tracker) => ({
        decisionId: id,
        tracker,
        dueAtMs: systemClock.nowMs(),
        lateAtMs: systemClock.nowMs() + 60_000,
        client: tracker.atLeastOnce ? null : box.seal('{}'),
      })),
    );
    return id;
  }

  /** Starts a dispatcher, as each process does. */
  const start = (
    processDatabase: Database = database,
    overrides: Partial<Parameters<typeof startTrackerDispatcher>[0]> = {},
  ) =>
    startTrackerDispatcher({
      database: processDatabase,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      lane: createRequestLanes(processDatabase, lanes),
      random: () => 0.5,
      box,
      isKilled: () => false,
      countEnded: () => undefined,
      development: true,
      send: createTrackerSender({ agents }),
      leaseMs,
      ...overrides,
    });

  /**
   * Simulates a process that dies at its `step`-th statement. With `before`, the statement is not sent. With `after`,
   * the statement is executed, but its result does not arrive.
   */
  function createDyingDatabase(
    step: number,
    moment: 'before' | 'after',
  ): { death: Promise<void>; database: Database } {
    let steps = 0;
    let reportDeath: () => void = () => undefined;
    const death = new Promise<void>((resolve) => (reportDeath = resolve));
    const unsettledPromise = new Promise<never>(() => undefined);
    const run: Database['query'] = async (text, params) => {
      steps += 1;
      const isLast = steps >= step;
      if (isLast && (moment === 'before' || steps > step)) {
        reportDeath();
        return unsettledPromise;
      }
      const rows = await database.query<never>(text, params);
      if (!isLast) return rows;
      reportDeath();
      return unsettledPromise;
    };
    return { death, database: { ...database, query: run, execute: run } };
  }

  const countByState = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (
        await database.query<{ state: string; count: number }>(
          `SELECT state, count(*)::integer AS count FROM tracker_requests WHERE ${ownRows} GROUP BY state`,
        )
      ).map(({ state, count }) => [state, count]),
    );

  test('a process that dies at any step neither fires a pixel twice nor loses a billing notice', async () => {
    await database.query(`DELETE FROM rollup_deltas WHERE ${ownRows}`);
    const ids: string[] = [];
    const steps = Array.from({ length: 6 }, (_, index) => index + 1);
    for (const step of steps) {
      for (const moment of ['before', 'after'] as const) {
        ids.push(await storeImpression(server.url), await storeImpression(server.url));
        const process = createDyingDatabase(step, moment);
        const dispatcher = start(process.database);
        dispatcher.wake(scope.accountId);
        await process.death;
        // This dispatcher's pending statement never returns, so the dispatcher does no further work.
      }
    }
    const survivingDispatcher = start();
    await expect.poll(countByState, { timeout: 60_000 }).not.toHaveProperty('pending');
    await survivingDispatcher.stop();
    const paths = server.paths();
    const pixels = paths.filter((path) => !path.endsWith('/burl'));
    expect(new Set(pixels).size).toBe(pixels.length);
    for (const id of ids) {
      expect(paths).toContain(`/${id}/burl`);
      const positions = ['impression', 'start'].map((name) =>
        paths.findIndex((path) => path.startsWith(`/${id}/${name}`)),
      );
      if (positions[1] !== -1) expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    }
    const { sent = 0, failed = 0 } = await countByState();
    expect(sent + failed).toBe(4 * ids.length);
    const counts = await database.query<{ metric: string; reason: string; count: number }>(
      `SELECT metric, reason, sum(count)::integer AS count FROM rollup_deltas WHERE ${ownRows} GROUP BY metric, reason ORDER BY metric`,
    );
    expect(counts).toEqual([
      { metric: 'trackers_failed', reason: 'interrupted', count: failed },
      { metric: 'trackers_sent', reason: '', count: sent },
    ]);
    // Most processes died before sending any requests.
    expect(sent).toBeGreaterThan(failed);
    expect(
      await database.query(`SELECT FROM tracker_requests WHERE client IS NOT NULL AND ${ownRows}`),
    ).toEqual([]);
  }, 90_000);

  test('several processes send each tracker request once', async () => {
    const ids = [];
    for (let count = 0; count < 25; count += 1) ids.push(await storeImpression(server.url));
    const processes = [start(), start(), start()];
    for (const { wake } of processes) wake(scope.accountId);
    await expect.poll(countByState, { timeout: 30_000 }).toEqual({ sent: 100 });
    await Promise.all(processes.map(({ stop }) => stop()));
    expect(new Set(server.paths()).size).toBe(100);
    expect(server.paths()).toHaveLength(100);
  }, 60_000);

  test('a hanging host does not delay other hosts or accounts', async () => {
    const hangingServer = await startTrackerServer(() => undefined);
    for (let count = 0; count < 30; count += 1) await storeImpression(hangingServer.url);
    // No request to the hanging host times out during the test.
    const send = createTrackerSender({ agents, timeoutMs: 600_000 });
    const dispatcher = start(database, { send });
    dispatcher.wake('acc_1');
    await expect.poll(() => hangingServer.calls.length).toBeGreaterThanOrEqual(4);
    await storeImpression(server.url);
    await storeImpression(server.url, 'acc_2');
    dispatcher.wake('acc_1');
    dispatcher.wake('acc_2');
    await expect.poll(server.paths).toHaveLength(8);
    expect(hangingServer.calls.length).toBeLessThan(30);
    await dispatcher.stop();
    await hangingServer.close();
  }, 30_000);

  test('`stop` marks in-flight pixels as failed and leaves billing notices to the next process', async () => {
    const hangingServer = await startTrackerServer(() => undefined);
    const id = await storeImpression(hangingServer.url);
    const dispatcher = start();
    dispatcher.wake(scope.accountId);
    await expect.poll(() => hangingServer.calls.length).toBe(3);
    await dispatcher.stop();
    const rows = await database.query(
      `SELECT tracker, state, reason, lease_until FROM tracker_requests WHERE decision_id = $1 ORDER BY tracker`,
      [id],
    );
    expect(rows).toEqual([
      { tracker: 'burl/0', state: 'pending', reason: null, lease_until: null },
      { tracker: 'impression/0', state: 'failed', reason: 'interrupted', lease_until: null },
      { tracker: 'impression/1', state: 'failed', reason: 'interrupted', lease_until: null },
      { tracker: 'start/0', state: 'pending', reason: null, lease_until: null },
    ]);
    await hangingServer.close();
  });

  test('undecryptable client data fails only the requests that need it', async () => {
    await storeImpression(server.url);
    const dispatcher = start(database, { box: createSecretBox([randomBytes(32)]) });
    dispatcher.wake(scope.accountId);
    await expect.poll(countByState).toEqual({ sent: 1, failed: 3 });
    await dispatcher.stop();
    expect(server.paths()).toEqual([expect.stringMatching(/burl$/)]);
  });
});
