import { Registry } from 'prom-client';
import { exportPlayer } from '../../src/history/export-player.ts';
import { readIntegrationFacts } from '../../src/history/integration-health.ts';
import { findJob, listJobs } from '../../src/history/jobs.ts';
import { readReport } from '../../src/history/report.ts';
import { readSourceHealth } from '../../src/history/source-health.ts';
import { readTop } from '../../src/history/top.ts';
import { addDemandState } from '../../src/http/monitoring/demand-metrics.ts';
import { findCause } from '../../src/inspect/explain-decision.ts';
import { createInspectDecision } from '../../src/inspect/inspect-decision.ts';
import { listDecisions } from '../../src/inspect/list-decisions.ts';
import { findLastMissed } from '../../src/webhook/probe.ts';
import type { Database } from '../../src/store/database.ts';
import {
  findDelivery,
  listDeliveries,
  listEventDeliveries,
  listEvents,
} from '../../src/webhook/delivery-list.ts';
import { claimDue } from '../../src/webhook/delivery-store.ts';
import { listFailingEndpoints } from '../../src/webhook/probe.ts';
import { createRecoveryStep } from '../../src/webhook/recovery.ts';
import { readWebhookHealth } from '../../src/webhook/webhook-health.ts';
import { accountId, ids, name, openText, scope } from '../twin-accounts.ts';
import {
  clock,
  counted,
  makeId,
  nowMs,
  ofPlayer,
  page,
  samePlayer,
  sourceId,
  reportQuery,
  type ReadCases,
} from './read-case.ts';

const [keyId = ''] = ids('key', 1);
const [decisionId = ''] = ids('decision', 1);
const [webhookId = ''] = ids('webhook', 1);
const [deliveryId = ''] = ids('delivery', 1);
const [eventId = ''] = ids('webhookEvent', 1);
const readExport = async (database: Database, record: string) => {
  const found: Record<string, unknown>[] = [];
  for await (const line of exportPlayer(database, scope, 'player', () => '{}'))
    if (line['record'] === record) found.push({ ...line });
  return found;
};
/**
 * Kill switches: one that blocked the decision, one for another placement, and one for something else of that name. The
 * other placement's id is, elsewhere, that of something with the first one's name.
 */
const switches = [
  `UPDATE audit_entries SET action = 'kill_switch.created', after = jsonb_build_object('state', 'on',
    'scope', CASE right(target_id, 1) WHEN '3' THEN 'source' ELSE 'placement' END,
    'target_id', CASE right(target_id, 1) WHEN '2' THEN 'other' ELSE 'revive' END)`,
  `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
    SELECT account, environment, kind, 'other', jsonb_build_object('name', name), 1, now(), now() FROM (VALUES
      ('${accountId}', 'sandbox', 'placement', 'lobby'), ('acc_twin1', 'sandbox', 'placement', 'revive'),
      ('${accountId}', 'live', 'placement', 'revive'), ('${accountId}', 'sandbox', 'source', 'revive'))
      AS other (account, environment, kind, name)`,
];
const blocked = {
  reason: 'killed',
  placement: 'revive',
  issued_at: new Date(nowMs + 1_000),
} as never;

/** Reads a gauge of the whole service. */
const readGauge = async (database: Database, gauge: string): Promise<number> => {
  const registry = new Registry();
  addDemandState(registry, { database, intake: { jobs: () => ({}) }, clock } as never);
  await registry.metrics(); // One gauge is set by another.
  const text = await registry.metrics();
  return Number(new RegExp(`^${gauge} (.+)$`, 'm').exec(text)?.[1]);
};
/** Sends again what a webhook missed. */
const recoverStep = (own: Database) =>
  createRecoveryStep({
    clock,
    makeId,
    resources: {
      find: async () => ({ document: { status: 'enabled', events: ['decision.rewarded'] } }),
    } as never,
  })(own, {
    scope,
    request: { webhook_id: webhookId, since: '2000-01-01', until: '2100-01-01' },
    cursor: undefined,
  } as never);

/** Leaves one tracker request pending, which is due. */
const onePending = [
  `UPDATE tracker_requests SET next_at = next_at - interval '1 minute', state = CASE
    WHEN account_id = '${accountId}' AND decision_id = '${decisionId}' THEN 'pending' ELSE 'sent' END`,
];
const pendingRow = { tracker_requests: `decision_id = '${decisionId}'` };

/** Claims everything that is due within a day, with leases that end at once. */
const dueLater = {
  endpoints: [],
  perEndpoint: 9,
  accounts: [],
  perAccount: 9,
  limit: 99,
  leaseMs: 0,
  nowMs: nowMs + 86_400_000,
};

const allOfPlayer = [
  ...samePlayer('decisions', 'player_tokens', 'wallet_balances', 'wallet_entries'),
  `UPDATE webhook_events SET viewer = 'player' WHERE right(id, 1) = '1'`,
];

/** What operators read: deliveries, jobs, reports, health and lists. */
export const operationReads: ReadCases = {
  'deliveries of a webhook': {
    read: (own) => listDeliveries(own, scope, webhookId, page),
    of: {
      delivery_queue: `webhook_id = '${webhookId}'`,
      finished_deliveries: `webhook_id = '${webhookId}'`,
    },
  },
  'a delivery': {
    read: (own) => findDelivery(own, scope, deliveryId),
    of: { delivery_queue: `id = '${deliveryId}'`, finished_deliveries: `id = '${deliveryId}'` },
  },
  'deliveries of an event': {
    read: (own) => listEventDeliveries(own, scope, [eventId]),
    of: {
      delivery_queue: `event_id = '${eventId}'`,
      finished_deliveries: `event_id = '${eventId}'`,
    },
  },
  'webhook events': {
    prepare: [`UPDATE webhook_events SET body = '{}'`],
    read: (own) => listEvents(own, openText as never, scope, page),
    of: { webhook_events: 'true' },
  },
  'webhook events of a type': {
    prepare: [`UPDATE webhook_events SET body = '{}', type = right(id, 1)`],
    read: (own) => listEvents(own, openText as never, scope, { ...page, type: '1' as never }),
    of: { webhook_events: `type = '1'` },
  },
  'webhooks’ health': {
    read: (own) => readWebhookHealth(own, scope),
    of: { resources: `kind = 'webhook'` },
  },
  'what waits for a webhook': {
    read: async (own) =>
      (await readWebhookHealth(own, scope)).find((health) => health.webhook_id === webhookId)
        ?.queued,
    of: { delivery_queue: `webhook_id = '${webhookId}'` },
    inBoth: true,
  },
  'a job': { read: (own) => findJob(own, scope, name), of: { jobs: `id = '${name}'` } },
  jobs: { read: (own) => listJobs(own, scope, page), of: { jobs: 'true' } },
  'exported decisions': {
    prepare: allOfPlayer,
    read: (own) => readExport(own, 'decision'),
    of: { decisions: ofPlayer },
  },
  'a report of one source': {
    prepare: [counted('filled')],
    read: async (own) => {
      const only = { source: [sourceId] };
      return (await readReport(own, scope, { ...reportQuery, interval: 'day', groupBy: [], only }))
        .data;
    },
    of: { rollups: `source_id = '${sourceId}'` },
  },
  'the top of one source': {
    prepare: [counted('filled')],
    read: (own) =>
      readTop(own, scope, {
        ...reportQuery,
        dimension: 'placement',
        by: 'requests',
        only: { source: sourceId },
        limit: 10,
      }),
    of: { rollups: `source_id = '${sourceId}'` },
  },
  'a source’s health': {
    prepare: [counted('source_requests')],
    read: async (own) =>
      (await readSourceHealth(own, scope, sourceId, nowMs)).hours.filter(
        ({ requests }) => requests > 0,
      ),
    of: { rollups: `source_id = '${sourceId}'` },
  },
  'what players did': {
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).players,
    of: { decisions: 'true' },
  },
  'which webhooks receive rewards': {
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).rewardReceivers,
    of: { resources: `kind = 'webhook'` },
  },
  'which webhooks receive rewards, beside some that receive other events': {
    prepare: [
      `UPDATE resources SET document = document || jsonb_build_object('events',
          CASE right(id, 1) WHEN '1' THEN '["decision.rewarded"]'::jsonb ELSE '["decision.served"]' END)
        WHERE kind = 'webhook'`,
    ],
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).rewardReceivers,
    of: { resources: `id = '${webhookId}'` },
  },
  'events that a webhook missed, which wait for another account’s': {
    prepare: [
      `DELETE FROM webhook_events WHERE id <> '${eventId}'`,
      `UPDATE webhook_events SET type = 'decision.rewarded'`,
      `DELETE FROM delivery_queue WHERE account_id = '${accountId}' OR id <> '${deliveryId}'`,
      `DELETE FROM finished_deliveries`,
      `UPDATE delivery_queue SET event_id = '${eventId}', webhook_id = '${webhookId}'`,
    ],
    read: async (own) => (await recoverStep(own)).counts?.['queued'],
    of: { webhook_events: 'true' },
  },
  'an inspected decision': {
    prepare: ['DELETE FROM webhook_events'],
    read: (own) =>
      createInspectDecision({
        database: own,
        eventBodies: openText,
        readReward: async () => undefined,
      } as never)(scope, decisionId),
    of: { decisions: `id = '${decisionId}'` },
  },
  'the event that a webhook missed last': {
    prepare: [`UPDATE finished_deliveries SET state = 'failed'`],
    read: (own) => findLastMissed(own, scope, webhookId, nowMs + 1),
    of: {
      delivery_queue: `webhook_id = '${webhookId}'`,
      finished_deliveries: `webhook_id = '${webhookId}'`,
    },
    inBoth: true,
  },
  'the event that a webhook missed last, beside some that it received': {
    prepare: [
      'DELETE FROM delivery_queue',
      `UPDATE finished_deliveries SET webhook_id = '${webhookId}',
        state = CASE right(id, 1) WHEN '1' THEN 'failed' ELSE 'delivered' END`,
    ],
    read: (own) => findLastMissed(own, scope, webhookId, nowMs + 1),
    of: { finished_deliveries: `state = 'failed'` },
    inBoth: true,
  },
  'which deliveries are late': {
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs + 86_400_000)).late,
    of: { delivery_queue: 'true' },
  },
  'keys used elsewhere': {
    prepare: [`UPDATE keys SET misplaced_at = created_at, misplaced_origin = 'https://a.example'`],
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).misplacedKeys,
    of: { keys: 'true' },
  },
  'listed decisions': {
    read: async (own) => (await listDecisions(own, scope, page)).data,
    of: { decisions: 'true' },
  },
  'listed decisions of a player': {
    prepare: samePlayer('decisions'),
    read: async (own) =>
      (await listDecisions(own, scope, { ...page, search: { viewer: 'player' } })).data,
    of: { decisions: ofPlayer },
  },
  'the last event of a listed decision': {
    read: async (own) =>
      (await listDecisions(own, scope, page)).data.find(({ id }) => id === decisionId)?.last_event,
    of: { timelines: `decision_id = '${decisionId}'` },
  },
  'the kill switch that blocked a decision': {
    prepare: switches,
    read: (own) => findCause(own, scope, blocked, undefined),
    of: { audit_entries: `target_id = '${name}'` },
  },
  'who changed the policy that blocked a decision': {
    read: async (own) => (await findCause(own, scope, blocked, { id: name, name: '' }))?.actor,
    of: { audit_entries: `target_id = '${name}'` },
  },
  'how many tracker requests are pending': {
    prepare: onePending,
    read: (own) => readGauge(own, 'trueward_tracker_requests_pending'),
    of: pendingRow,
    inBoth: true,
  },
  'for how long a tracker request has been overdue': {
    prepare: onePending,
    read: (own) => readGauge(own, 'trueward_tracker_overdue_seconds'),
    of: pendingRow,
    inBoth: true,
  },
  'disabled webhooks': {
    prepare: [
      `UPDATE resources SET document = document || jsonb_build_object('disabled_at', '2026-01-01T00:00:00.000Z',
        'disabled_reason', CASE WHEN id = '${webhookId}' AND account_id = '${accountId}' THEN 'failing' ELSE 'gone' END)
        WHERE kind = 'webhook'`,
      `UPDATE resources SET document = document || '{"disabled_at": "2026-01-01T00:00:00.000Z", "disabled_reason": "failing"}'
        WHERE kind <> 'webhook'`,
    ],
    read: (own) => listFailingEndpoints(own, nowMs),
    of: { resources: `id = '${webhookId}'` },
    inBoth: true,
  },
  'what a key’s devices did': {
    prepare: [
      `UPDATE keys SET findings = CASE WHEN id = '${keyId}' AND account_id = '${accountId}'
        THEN '{"devicesPerPlayer": {"atMs": ${nowMs}, "count": 3}}'::jsonb ELSE '{}' END`,
    ],
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).devicesPerPlayer,
    of: { keys: `id = '${keyId}'` },
  },
  'what players did who simulated nothing': {
    prepare: [`UPDATE decisions SET simulate = 'no_fill' WHERE id <> '${decisionId}'`],
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).players,
    of: { decisions: `id = '${decisionId}'` },
  },
  'what players did who saw ads': {
    prepare: [
      `UPDATE decisions SET simulate = NULL, status = CASE id WHEN '${decisionId}' THEN 'filled' ELSE 'no_fill' END`,
    ],
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).players,
    of: { decisions: `id = '${decisionId}'` },
  },
  'why rewards were not earned': {
    prepare: [
      `UPDATE decisions SET reward_reason = 'too_fast', reward_state = CASE right(id, 1) WHEN '1' THEN 'denied' ELSE 'earned' END`,
    ],
    read: async (own) => (await readIntegrationFacts(own, scope, nowMs)).withoutReward['too_fast'],
    of: { decisions: `reward_state = 'denied'` },
  },
  'the event of a delivery that is due': {
    prepare: [`UPDATE delivery_queue SET lease_until = NULL`],
    read: async (own) => {
      const claimed = await claimDue(own, dueLater);
      const delivery = claimed.find((due) => due.id === deliveryId && due.accountId === accountId);
      return delivery?.body ?? undefined;
    },
    of: { webhook_events: `id = '${eventId}'` },
  },
};
