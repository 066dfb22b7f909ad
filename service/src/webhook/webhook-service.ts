import type { Webhook, WebhookRequest } from '@trueward/protocol/wire';
import type { SecretBox } from '../key/secret-box.ts';
import type { Clock } from '../platform/clock.ts';
import type { Configuration } from '../resource/configuration.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { Scope } from '../resource/scope.ts';
import type { Database } from '../store/database.ts';
import { createWebhookSecret } from './webhook-secrets.ts';

interface Parts {
  database: Database;
  resources: ResourceStore;
  configuration: Configuration;
  box: SecretBox;
  clock: Clock;
}

/** Registers webhooks and takes them out of use. */
export interface WebhookService {
  /** The answer carries the secret, this once. */
  create(scope: Scope, request: WebhookRequest): Promise<Webhook>;
  /** False when there is no such webhook. */
  delete(scope: Scope, id: string): Promise<boolean>;
  disable(scope: Scope, id: string, reason: NonNullable<Webhook['disabled_reason']>): Promise<void>;
}

export function createWebhookService({
  database,
  resources,
  configuration,
  box,
  clock,
}: Parts): WebhookService {
  return {
    async create(scope, { url, events }) {
      const webhook = await database.transaction(async (queries) => {
        const made = await resources.create(queries, scope, 'webhook', {
          url,
          events,
          status: 'enabled',
        });
        const secret = await createWebhookSecret(
          queries,
          box,
          scope.accountId,
          made.id,
          clock.nowMs(),
        );
        return { ...made, secret };
      });
      await configuration.refresh();
      return webhook;
    },
    async delete(scope, id) {
      const deleted = await database.transaction((queries) =>
        resources.archive(queries, scope, 'webhook', id),
      );
      if (deleted) await configuration.refresh();
      return deleted;
    },
    async disable(scope, id, reason) {
      const disabled_at = new Date(clock.nowMs()).toISOString();
      await database.transaction((queries) =>
        resources.update(queries, scope, 'webhook', id, {
          status: 'disabled',
          disabled_reason: reason,
          disabled_at,
        }),
      );
      await configuration.refresh();
    },
  };
}
