import { exportPlayer } from '../../src/history/export-player.ts';
import { readIntegrationFacts } from '../../src/history/integration-health.ts';
import { findJob, listJobs } from '../../src/history/jobs.ts';
import { readReport } from '../../src/history/report.ts';
import { readSourceHealth } from '../../src/history/source-health.ts';
import { listDecisions } from '../../src/inspect/list-decisions.ts';
import type { Database } from '../../src/store/database.ts';
import {
  findDelivery,
  listDeliveries,
  listEventDeliveries,
  listEvents,
} from '../../src/webhook/delivery-list.ts';
import { readWebhookHealth } from '../../src/webhook/webhook-health.ts';
import { ids, name, scope } from '../twin-accounts.ts';
import {
  counted,
  nowMs,
  ofPlayer,
  openText,
  page,
  samePlayer,
  sourceId,
  reportQuery,
  type ReadCases,
} from './read-case.ts';

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
};
