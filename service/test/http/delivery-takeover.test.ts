import type { Webhook } from '@trueward/protocol/wire';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/time.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import type { LaneDeps } from '../../src/store/lanes.ts';
import { startDispatcher } from '../../src/webhook/dispatcher.ts';
import { leaseMs } from '../../src/webhook/leases.ts';
import { createAttemptLanes } from '../../src/webhook/record-attempts.ts';
import { openEmptyDatabase } from '../empty-database.ts';

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
});
afterAll(() => database.close());

const webhook: Webhook = {
  id: 'whk_1',
  url: 'https://receiver.test/',
  events: ['decision.rewarded'],
  status: 'enabled',
  environment: 'live',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

const lanes: LaneDeps = {
  name: 'deliveries',
  openLane: noTracing.lane('deliveries'),
  gate: { run: (_owner, work) => work() },
  log: pino({ level: 'silent' }),
};

/** Starts a dispatcher. `onSend` is called for each delivery, and its promise delays the response. */
const start = (onSend: (eventId: string) => Promise<unknown>) =>
  startDispatcher({
    database,
    lane: createAttemptLanes(database, lanes),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    tracing: noTracing,
    async send({ id }) {
      await onSend(id);
      return { startedAtMs: systemClock.nowMs(), latencyMs: 1, status: 200 };
    },
    findWebhook: async () => webhook,
    openBody: (body) => body,
    readSecrets: async () => [],
    onAttempt: () => undefined,
    disable: async () => undefined,
    development: false,
    random: () => 0.5,
  });

/** Adds a delivery, which another process may have leased. */
async function addDelivery(name: string, otherLeaseMs?: number): Promise<void> {
  await database.query(
    `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
      VALUES ('acc_1', 'live', 'webhook', 'whk_1', $1, 1, now(), now()) ON CONFLICT DO NOTHING`,
    [webhook],
  );
  await database.query(
    `INSERT INTO webhook_events (account_id, id, environment, type, body, created_at)
      VALUES ('acc_1', 'evt_' || $1::text, 'live', 'decision.rewarded', '{}', now())`,
    [name],
  );
  await database.query(
    `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at, lease_until)
      VALUES ('acc_1', 'dlv_' || $1::text, 'live', 'evt_' || $1::text, 'whk_1', 0, now(), now(),
        now() + $2::float8 * interval '1 millisecond')`,
    [name, otherLeaseMs ?? null],
  );
}

test('a dead process’s deliveries are taken over within five seconds, those in progress never', async () => {
  const sent: string[] = [];
  let respond: () => void = () => undefined;
  const response = new Promise<void>((resolve) => (respond = resolve));
  await addDelivery('slow');
  let notifySend: () => void = () => undefined;
  const firstSend = new Promise<void>((resolve) => (notifySend = resolve));
  let notifyTakeover: () => void = () => undefined;
  const takeover = new Promise<void>((resolve) => (notifyTakeover = resolve));
  // Either process may take over the other delivery.
  const startNamed = (name: string) =>
    start(async (id) => {
      sent.push(`${name}: ${id}`);
      if (id === 'evt_dead') return notifyTakeover();
      notifySend();
      await response;
    });
  const slow = startNamed('slow process');
  await firstSend;
  await addDelivery('dead', leaseMs);
  const killedAtMs = performance.now();
  const survivor = startNamed('survivor');
  await takeover;
  expect(performance.now() - killedAtMs).toBeLessThan(5_000);
  respond();
  await Promise.all([slow.stop(), survivor.stop()]);
  expect(sent.filter((text) => text.includes('evt_slow'))).toEqual(['slow process: evt_slow']);
  const unsent = `SELECT id FROM deliveries WHERE account_id = 'acc_1' AND state <> 'delivered'`;
  expect(await database.query(unsent)).toEqual([]);
}, 20_000);
