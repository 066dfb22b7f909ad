import type { Webhook } from '@trueward/protocol/wire';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { onAbort } from '../../src/platform/on-abort.ts';
import { systemClock } from '../../src/platform/time.ts';
import type { LaneDeps } from '../../src/store/lanes.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import {
  type Dispatcher,
  computeEndpointCapacities,
  startDispatcher,
} from '../../src/webhook/dispatcher.ts';
import { createAttemptLanes } from '../../src/webhook/record-attempts.ts';
import type { AttemptResult } from '../../src/webhook/sender.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { ownRows } from '../neighbor.ts';

let database: Database;
beforeEach(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
});
// Returns the database to the pool, so that all tests use the same one.
afterEach(() => database.close());

const lanes: LaneDeps = {
  name: 'deliveries',
  openLane: noTracing.lane('deliveries'),
  gate: { run: (_owner, work) => work() },
  log: pino({ level: 'silent' }),
};

const createWebhook = (id: string): Webhook => ({
  id,
  url: `https://${id}.test/`,
  events: ['decision.rewarded'],
  status: 'enabled',
  environment: 'live',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
});

/** Creates endpoints, each with `count` due deliveries. */
async function createDeliveries(
  accountId: string,
  webhookIds: string | string[],
  count: number,
): Promise<void> {
  const ids = [webhookIds].flat();
  await database.query(
    `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
      SELECT $1, 'live', 'webhook', document->>'id', document, 1, now(), now()
      FROM jsonb_array_elements($2::text::jsonb) AS document ON CONFLICT DO NOTHING`,
    [accountId, JSON.stringify(ids.map(createWebhook))],
  );
  await database.query(
    `INSERT INTO webhook_events (account_id, id, environment, type, body, created_at)
      VALUES ($1, 'evt_1', 'live', 'decision.rewarded', '{}', now()) ON CONFLICT DO NOTHING`,
    [accountId],
  );
  await database.query(
    `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
      SELECT $1, id || '_' || n, 'live', 'evt_1', id, 0, now(), now()
      FROM unnest($2::text[]) AS id, generate_series(1, $3::integer) AS n`,
    [accountId, ids, count],
  );
}

interface SentRequest {
  url: string;
  respond(result: Partial<AttemptResult>): void;
}

/** Starts a dispatcher whose requests stay in flight until the test responds to them. */
function start(overrides: Partial<Parameters<typeof startDispatcher>[0]> = {}) {
  const requests: SentRequest[] = [];
  const disabledIds: string[] = [];
  const dispatcher: Dispatcher = startDispatcher({
    database,
    lane: createAttemptLanes(database, lanes),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    tracing: noTracing,
    send: ({ url }, signal) =>
      new Promise((resolve) => {
        const respond = (result: Partial<AttemptResult>): void =>
          resolve({ startedAtMs: systemClock.nowMs(), latencyMs: 1, ...result });
        requests.push({ url, respond });
        onAbort(signal, () => respond({ error: 'aborted' }));
      }),
    findWebhook: async (_scope, id) => createWebhook(id),
    openBody: (body) => body,
    readSecrets: async () => ['whsec_AAAA'],
    onAttempt: () => undefined,
    disable: async (_scope, id) => void disabledIds.push(id),
    development: false,
    random: () => 0.5,
    ...overrides,
  });
  return { dispatcher, requests, disabledIds };
}

const countByState = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await database.query<{ state: string; count: number }>(
        `SELECT state, count(*)::integer AS count FROM deliveries WHERE ${ownRows} GROUP BY state`,
      )
    ).map(({ state, count }) => [state, count]),
  );

test('a response frees its slot before the attempt is recorded', async () => {
  await createDeliveries('acc_1', 'whk_1', 40);
  const lane = createAttemptLanes(database, lanes);
  let allowRecording: () => void = () => undefined;
  const recordingAllowed = new Promise<void>((resolve) => (allowRecording = resolve));
  const { dispatcher, requests } = start({
    lane: { ...lane, push: (item) => recordingAllowed.then(() => lane.push(item)) },
  });
  await expect.poll(() => requests.length).toBe(4);
  for (const { respond } of requests) respond({ status: 200 });
  await expect.poll(() => requests.length).toBeGreaterThanOrEqual(8);
  for (const { respond } of requests) respond({ status: 200 });
  allowRecording();
  await dispatcher.stop();
});

test('responses to earlier requests do not end a Retry-After pause', async () => {
  await createDeliveries('acc_1', 'whk_1', 40);
  const { dispatcher, requests } = start();
  await expect.poll(() => requests.length).toBe(4);
  requests[0]?.respond({ status: 429, retryAfterMs: 60_000 });
  for (const { respond } of requests.slice(1)) respond({ status: 200 });
  await expect.poll(countByState).toEqual({ delivered: 3, pending: 37 });
  // A delivery to another endpoint shows that the dispatcher has claimed deliveries again.
  await createDeliveries('acc_1', 'whk_2', 1);
  dispatcher.wake();
  await expect.poll(() => requests.length).toBe(5);
  expect(requests[4]?.url).toBe('https://whk_2.test/');
  requests[4]?.respond({ status: 200 });
  await dispatcher.stop();
});

test.each([
  ['that has answered others', 20, 0],
  ['that has answered none', 0, 4],
])(
  'requests that are given up in a row count as failures only of an endpoint %s',
  async (_case, answered, failures) => {
    await database.query(`INSERT INTO accounts VALUES ('acc_1', 'Studio', now())`);
    await createDeliveries('acc_1', 'whk_1', 200);
    const { dispatcher, requests } = start();
    for (let count = 0; count < answered; count += 1) {
      await expect.poll(() => requests.length).toBeGreaterThan(count);
      requests[count]?.respond({ status: 200 });
    }
    await expect.poll(() => requests.length).toBeGreaterThanOrEqual(answered + 4);
    const started = requests.length;
    for (const { respond } of requests.slice(answered)) respond({ error: 'no response' });
    await expect
      .poll(
        async () => (await database.query(`SELECT FROM deliveries WHERE attempts <> '[]'`)).length,
      )
      .toBe(started);
    await dispatcher.stop();
    const counted = await database.query<{ attempts: number }>(
      `SELECT attempts FROM webhook_failures WHERE ${ownRows}`,
    );
    expect(counted.map(({ attempts }) => attempts)).toEqual(failures === 0 ? [] : [failures]);
  },
);

test('several concurrent 410 responses disable an endpoint only once', async () => {
  await createDeliveries('acc_1', 'whk_1', 4);
  const { dispatcher, requests, disabledIds } = start();
  await expect.poll(() => requests.length).toBe(4);
  for (const { respond } of requests) respond({ status: 410 });
  await expect.poll(countByState).toEqual({ failed: 4 });
  await dispatcher.stop();
  expect(disabledIds).toEqual(['whk_1']);
});

test('stop waits briefly for in-flight requests and releases all other deliveries', async () => {
  await createDeliveries('acc_1', 'whk_1', 2);
  const { dispatcher, requests } = start();
  await expect.poll(() => requests.length).toBe(2);
  const stopResult = dispatcher.stop();
  requests[0]?.respond({ status: 200 });
  await stopResult;
  expect(await countByState()).toEqual({ delivered: 1, pending: 1 });
  const leasedRows = await database.query(
    'SELECT FROM delivery_queue WHERE lease_until IS NOT NULL',
  );
  expect(leasedRows).toHaveLength(0);
});

test.each([
  {
    what: 'event',
    openBody: (): string => {
      throw new Error('Encrypted with another master key.');
    },
  },
  { what: 'secret', readSecrets: () => Promise.reject(new Error('Encrypted with another key.')) },
])(
  'an undecryptable $what does not count as an endpoint failure',
  async ({ what: _what, ...brokenDeps }) => {
    await createDeliveries('acc_1', 'whk_1', 1);
    const { dispatcher, requests } = start(brokenDeps);
    const attempts = () =>
      database.query<{ error: string }>(
        `SELECT attempts -> 0 ->> 'error' AS error FROM deliveries WHERE attempts <> '[]' AND ${ownRows}`,
      );
    await expect.poll(attempts).toHaveLength(1);
    await dispatcher.stop();
    expect(requests).toEqual([]);
    expect((await attempts())[0]?.error).toMatch(/could not be read/);
    expect(await database.query(`SELECT FROM webhook_failures WHERE ${ownRows}`)).toHaveLength(0);
  },
);

test("one account's slow endpoints leave free slots for other accounts", () => {
  const endpoint = (accountId: string, size: number, inFlight: number) => ({
    accountId,
    webhookId: 'whk_1',
    pausedUntilMs: -Infinity,
    window: { inFlight, countFree: () => size - inFlight },
  });
  const slowEndpoints = Array.from({ length: 5 }, () => endpoint('acc_slow', 200, 100));
  const capacities = computeEndpointCapacities(
    [...slowEndpoints, endpoint('acc_other', 200, 4)],
    1_000 - 504,
    0,
  );
  expect(capacities.map(({ free }) => free)).toEqual([0, 0, 0, 0, 0, 196]);
  expect(
    computeEndpointCapacities([{ ...endpoint('acc_1', 4, 0), pausedUntilMs: 1 }], 1_000, 0)[0]
      ?.free,
  ).toBe(0);
});

test("one account's hanging endpoints use at most half of the slots", async () => {
  const hangingIds = Array.from({ length: 260 }, (_, index) => `whk_${index + 1}`);
  await createDeliveries('acc_1', hangingIds, 4);
  const { dispatcher, requests } = start();
  await expect.poll(() => requests.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(500);
  await createDeliveries('acc_2', 'whk_other', 1);
  dispatcher.wake();
  await expect
    .poll(() => requests.map(({ url }) => url), { timeout: 20_000 })
    .toContain('https://whk_other.test/');
  expect(requests.length).toBeLessThan(1_000);
  await dispatcher.stop();
}, 60_000);
