import type { Webhook } from '@trueward/protocol/wire';
import { pino } from 'pino';
import { systemClock } from '../../src/platform/time.ts';
import type { Database } from '../../src/store/database.ts';
import type { LaneDeps } from '../../src/store/lanes.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import { startDispatcher } from '../../src/webhook/dispatcher.ts';
import { createAttemptLanes } from '../../src/webhook/record-attempts.ts';

/** The only webhook of the tests that start dispatchers by themselves, in the account `acc_1`. */
export const webhook: Webhook = {
  id: 'whk_1',
  url: 'https://receiver.test/',
  events: ['decision.rewarded'],
  status: 'enabled',
  environment: 'live',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

const log = pino({ level: 'silent' });
const lanes: LaneDeps = {
  name: 'deliveries',
  openLane: noTracing.lane('deliveries'),
  gate: { run: (_owner, work) => work() },
  log,
};

/**
 * Starts a dispatcher, as in a process of its own. `onSend` is called for each delivery, with its event's id, and its
 * promise delays the response.
 *
 * @param more.claims the database in which the dispatcher claims deliveries. Default: `database`
 */
export const startTestDispatcher = (
  database: Database,
  onSend: (eventId: string) => unknown,
  { claims = database, clock = systemClock } = {},
): ReturnType<typeof startDispatcher> =>
  startDispatcher({
    database: claims,
    lane: createAttemptLanes(database, lanes),
    clock,
    log,
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

/** Stores the webhook, and a delivery that another process may have leased. */
export async function addDelivery(
  database: Database,
  name: string,
  otherLeaseMs?: number,
): Promise<void> {
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
