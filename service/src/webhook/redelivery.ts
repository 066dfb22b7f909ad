import { webhookEventTypes } from '@trueward/protocol';
import type { Delivery, Job, Webhook, WebhookEvent } from '@trueward/protocol/wire';
import { formatInstant, type Clock } from '../platform/time.ts';
import type { AuditLog, Operation } from '../store/audit-log.ts';
import type { MakeId } from '../platform/ids.ts';
import { DomainError } from '../platform/domain-error.ts';
import type { EventDraft } from '../resource/change-events.ts';
import type { ResourceManager } from '../resource/resource-manager.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import { verified } from '../reward/receipt.ts';
import { findDelivery } from './delivery-list.ts';
import { queueDeliveries } from './delivery-store.ts';
import { type RecoveryFilter, startRecovery } from './recovery.ts';

interface Deps {
  clock: Clock;
  makeId: MakeId;
  resources: ResourceStore;
  audit: AuditLog;
  resourceManager: Pick<ResourceManager, 'change'>;
}

/**
 * Queues deliveries on request, through the API or the panel. A redelivery is a new delivery. The previous delivery
 * keeps its attempts.
 */
export interface Redelivery {
  /** Queues a sample event for a webhook. */
  test(operation: Operation, webhookId: string, type?: Delivery['event_type']): Promise<Delivery>;
  redeliver(operation: Operation, deliveryId: string): Promise<Delivery>;
  /** Starts a job that sends a webhook's events again. */
  recover(operation: Operation, webhookId: string, filter: RecoveryFilter): Promise<Job>;
}

export function createRedelivery(deps: Deps): Redelivery {
  const { clock, makeId, resources, audit } = deps;
  const now = () => formatInstant(clock.nowMs());
  const findEnabledWebhook = async (
    { queries, scope }: Operation,
    id: string,
  ): Promise<Webhook> => {
    const webhook = await resources.find(queries, scope, 'webhook', id);
    if (!webhook)
      throw new DomainError(
        'not_found',
        `Webhook ${id.slice(0, 64)} does not exist in this environment.`,
      );
    if (webhook.document.status === 'disabled')
      throw new DomainError('conflict', 'The webhook is disabled. Enable it first.');
    return webhook.document;
  };
  const queueOne = async (operation: Operation, webhookId: string, eventId: string) => {
    const [id] = await queueDeliveries({ ...operation, makeId, nowMs: clock.nowMs() }, webhookId, [
      eventId,
    ]);
    const delivery = await findDelivery(operation.queries, operation.scope, id ?? '');
    if (!delivery) throw new Error('The queued delivery is missing.');
    return delivery;
  };

  return {
    async test(operation, webhookId, type) {
      const { queries, scope } = operation;
      const webhook = await findEnabledWebhook(operation, webhookId);
      const id = makeId('webhookEvent');
      const draft = makeSampleEvent(type ?? webhook.events[0] ?? webhookEventTypes[0], makeId);
      const body = JSON.stringify({
        id,
        type: draft.type,
        created_at: now(),
        environment: scope.environment,
        data: draft.data,
      });
      await queries.query(
        `INSERT INTO webhook_events (account_id, id, environment, type, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
        [scope.accountId, id, scope.environment, draft.type, body, now()],
      );
      await audit.record(operation, { action: 'webhook.tested', targetId: webhookId });
      return queueOne(operation, webhookId, id);
    },
    async redeliver(operation, deliveryId) {
      const previousDelivery = await findDelivery(operation.queries, operation.scope, deliveryId);
      if (!previousDelivery)
        throw new DomainError(
          'not_found',
          `Delivery ${deliveryId.slice(0, 64)} does not exist in this environment.`,
        );
      if (previousDelivery.state === 'pending')
        throw new DomainError('conflict', 'The delivery is still pending.');
      const webhook = await findEnabledWebhook(operation, previousDelivery.webhook_id);
      await audit.record(operation, { action: 'delivery.redelivered', targetId: deliveryId });
      return queueOne(operation, webhook.id, previousDelivery.event_id);
    },
    async recover(operation, webhookId, filter) {
      return startRecovery(deps, operation, await findEnabledWebhook(operation, webhookId), filter);
    },
  };
}

/** The player in sample events. No game has a player with this `user_ref`. */
const userRef = 'trueward-test';

/** Creates an event for testing a receiver. It refers to objects that don't exist. */
function makeSampleEvent(type: WebhookEvent['type'], makeId: MakeId): EventDraft {
  const decision = { decision_id: makeId('decision'), placement: 'test' };
  switch (type) {
    case 'decision.served':
      return {
        type,
        data: {
          ...decision,
          creative_id: makeId('creative'),
          advertiser_id: makeId('advertiser'),
          source_id: makeId('source'),
          user_ref: userRef,
          viewable: true,
        },
      };
    case 'decision.rewarded':
      return {
        type,
        data: {
          ...decision,
          user_ref: userRef,
          reward: { type: 'test', amount: 1 },
          evidence: verified,
        },
      };
    case 'policy.blocked':
      return {
        type,
        data: { ...decision, rule: { id: makeId('policy'), kind: 'policy', name: 'Test' } },
      };
    case 'creative.review_updated':
      return {
        type,
        data: {
          creative_id: makeId('creative'),
          previous: 'pending_review',
          current: 'approved',
        },
      };
    case 'kill_switch.changed':
      return {
        type,
        data: {
          kill_switch_id: makeId('killSwitch'),
          scope: 'placement',
          target_id: 'test',
          state: 'on',
          actor: userRef,
        },
      };
    case 'wallet.credited':
      return { type, data: { ...makeSampleEntry(makeId), kind: 'grant', balance: 1 } };
    case 'wallet.spent':
      return { type, data: { ...makeSampleEntry(makeId), balance: 0 } };
  }
}

const makeSampleEntry = (makeId: MakeId) => ({
  entry_id: makeId('grant'),
  user_ref: userRef,
  type: 'test',
  amount: 1,
  version: 1,
});
