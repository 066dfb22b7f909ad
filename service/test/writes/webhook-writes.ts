import type { Database, Queries } from '../../src/store/database.ts';
import {
  claimDue,
  type DueDelivery,
  release,
  renewLeases,
} from '../../src/webhook/delivery-store.ts';
import {
  claimProbe,
  clearFailures,
  restartFailurePeriod,
} from '../../src/webhook/endpoint-health.ts';
import { type FinishedAttempt, recordAttempts } from '../../src/webhook/record-attempts.ts';
import { createWebhookSecret, expireWebhookSecrets } from '../../src/webhook/webhook-secrets.ts';
import { makeId } from '../tenant-rows.ts';
import { accountId, openText, place, scope } from '../twin-accounts.ts';
import { clock, type WriteCases } from './write-case.ts';

const webhook = { accountId, webhookId: makeId('webhook', place) };

const deliveryId = makeId('delivery', place);
const held = { accountId, id: deliveryId, attempt: 1 } as DueDelivery;
/** Gives all deliveries a lease and one attempt. The first ones have the same id in each account. */
const queued = (leaseUntil: string) =>
  `UPDATE delivery_queue SET attempt = 1, lease_until = ${leaseUntil}`;
const claim = {
  endpoints: [{ ...webhook, free: 10 }],
  perEndpoint: 10,
  accounts: [{ accountId, free: 10 }],
  perAccount: 10,
  limit: 10,
  leaseMs: 1_000,
  nowMs: clock.nowMs(),
};
const attempt = (state: FinishedAttempt['next']['state']): FinishedAttempt => ({
  scope,
  delivery: { ...held, webhookId: webhook.webhookId },
  result: { startedAtMs: clock.nowMs(), latencyMs: 5, status: 500 },
  next: state === 'pending' ? { state, delayMs: 1_000 } : { state },
  concernsHealth: true,
});

const addSecret = async (queries: Queries) => {
  const owner = { accountId, webhookId: 'whk_1' };
  await createWebhookSecret(queries, openText as never, owner, clock.nowMs());
  await queries.query(`DELETE FROM secrets WHERE created_at = $1`, [new Date(clock.nowMs())]);
};

/** Webhooks, their secrets and their deliveries. */
export const webhookWrites: WriteCases = {
  "clearing a webhook's failures": {
    write: (queries) => clearFailures(queries, webhook),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  "restarting a webhook's failure period": {
    write: (queries) => restartFailurePeriod(queries, webhook, clock.nowMs()),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  'claiming the probe of a webhook': {
    write: (queries) => claimProbe(queries, webhook, clock.nowMs(), 1_000),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  'claiming the probe of a webhook that was just probed': {
    prepare: [`UPDATE webhook_failures SET probed_at = '2026-06-01T11:59:59.001Z'`],
    write: (queries) => claimProbe(queries, webhook, clock.nowMs(), 1_000),
    changes: [],
  },
  'claiming the probe of a webhook that was probed before': {
    prepare: [`UPDATE webhook_failures SET probed_at = '2026-06-01T11:59:59Z'`],
    write: (queries) => claimProbe(queries, webhook, clock.nowMs(), 1_000),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  'claiming the first delivery that is due': {
    prepare: [
      `UPDATE delivery_queue SET lease_until = NULL, next_at = timestamptz '2026-06-01T12:00:00Z'
        - CASE WHEN account_id = 'acc_home1' AND id = '${deliveryId}' THEN interval '1 second' ELSE interval '0' END`,
    ],
    write: (queries) => claimDue(queries, { ...claim, limit: 1 }),
    changes: [`delivery_queue ${deliveryId}`],
  },
  'claiming no delivery that is due later or has a lease': {
    prepare: [
      `UPDATE delivery_queue SET
        next_at = CASE right(id, 1) WHEN '1' THEN timestamptz '2026-06-01T12:00:00.001Z' ELSE timestamptz '2026-06-01T12:00:00Z' END,
        lease_until = CASE right(id, 1) WHEN '2' THEN timestamptz '2026-06-01T12:00:00.001Z' ELSE timestamptz '2026-06-01T12:00:00Z' END
        WHERE account_id = 'acc_home1'`,
    ],
    write: (queries) => claimDue(queries, claim),
    changes: [3].flatMap((n) =>
      (['sandbox', 'live'] as const).map(
        (environment) => `delivery_queue ${makeId('delivery', { ...place, environment, n })}`,
      ),
    ),
  },
  'ending the lease of a delivery': {
    prepare: [`UPDATE delivery_queue SET lease_until = now(), attempt = 1`],
    write: (queries) =>
      release(queries, { accountId, id: makeId('delivery', place), attempt: 1 } as never),
    changes: [`delivery_queue ${makeId('delivery', place)}`],
  },
  'ending the lease of an earlier attempt': {
    prepare: [`UPDATE delivery_queue SET lease_until = now(), attempt = 2`],
    write: (queries) =>
      release(queries, { accountId, id: makeId('delivery', place), attempt: 1 } as never),
    changes: [],
  },
  "expiring a webhook's secrets": {
    prepare: [
      `UPDATE secrets SET purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'webhook' END,
        id = CASE right(id, 1) WHEN '3' THEN 'whk_3/a' ELSE 'whk_1/' || right(id, 1) END
        WHERE account_id IN ('acc_home1', 'acc_twin1')`,
    ],
    write: (queries) =>
      expireWebhookSecrets(queries, { accountId, webhookId: 'whk_1' }, clock.nowMs()),
    changes: ['secrets webhook whk_1/1'],
  },
  'adding a secret to a webhook deletes those that have expired': {
    prepare: [
      `UPDATE secrets SET purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'webhook' END,
        id = 'whk_1/' || right(id, 1), expires_at = '2026-01-01T00:00:00Z'
        WHERE account_id IN ('acc_home1', 'acc_twin1')`,
      `UPDATE secrets SET id = 'whk_3/3' WHERE id = 'whk_1/3'`,
    ],
    write: (queries) => addSecret(queries),
    changes: ['secrets webhook whk_1/1'],
  },
  'adding a secret to a webhook keeps those that have not expired': {
    prepare: [
      `UPDATE secrets SET purpose = 'webhook', id = 'whk_1/' || right(id, 1), expires_at = '2026-06-01T12:00:01Z'
        WHERE account_id IN ('acc_home1', 'acc_twin1') AND right(id, 1) <> '3'`,
    ],
    write: (queries) => addSecret(queries),
    changes: [],
  },
  'adding a secret to a webhook while others have the most': {
    prepare: [
      `INSERT INTO secrets SELECT 'acc_twin1', 'webhook', 'whk_1/' || n, '', now() FROM generate_series(1, 5) AS n`,
      `INSERT INTO secrets SELECT 'acc_home1', 'webhook', 'whk_3/' || n, '', now() FROM generate_series(1, 5) AS n`,
      `INSERT INTO secrets SELECT 'acc_home1', 'other', 'whk_1/' || n, '', now() FROM generate_series(1, 5) AS n`,
    ],
    write: (queries) => addSecret(queries),
    changes: [],
  },
  'renewing a lease': {
    prepare: [queued(`'2026-06-01T12:00:01Z'`)],
    write: (queries) => renewLeases(queries, [held], { leaseMs: 2_000, nowMs: clock.nowMs() }),
    changes: [`delivery_queue ${deliveryId}`],
  },
  'renewing a lease that has ended': {
    prepare: [queued(`'2026-06-01T12:00:00Z'`)],
    write: (queries) => renewLeases(queries, [held], { leaseMs: 2_000, nowMs: clock.nowMs() }),
    changes: [],
  },
  'renewing a lease that another attempt has': {
    prepare: [queued(`'2026-06-01T12:00:01Z'`)],
    write: (queries) =>
      renewLeases(queries, [{ ...held, attempt: 0 }], { leaseMs: 2_000, nowMs: clock.nowMs() }),
    changes: [],
  },
  ...Object.fromEntries(
    (['pending', 'failed', 'delivered'] as const).map((state) => [
      `recording an attempt after which the delivery is ${state}`,
      {
        prepare: [queued('NULL'), 'DELETE FROM finished_deliveries'],
        write: (_: Queries, own: Database) => recordAttempts(own, [attempt(state)]),
        changes: [
          `delivery_queue ${deliveryId}`,
          ...(state === 'pending' ? [] : [`finished_deliveries ${deliveryId}`]),
          `webhook_failures ${webhook.webhookId}`,
        ],
      },
    ]),
  ),
  ...Object.fromEntries(
    (['pending', 'failed', 'delivered'] as const).map((state) => [
      `recording an attempt too late, after which the delivery would be ${state}`,
      {
        prepare: [queued('NULL'), 'UPDATE delivery_queue SET attempt = 2'],
        write: (_: Queries, own: Database) => recordAttempts(own, [attempt(state)]),
        changes: [`webhook_failures ${webhook.webhookId}`],
      },
    ]),
  ),
};
