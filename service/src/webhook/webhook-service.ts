import type { Webhook, WebhookRequest, WebhookUpdate } from '@trueward/protocol/wire';
import { formatInstant, type Clock } from '../platform/time.ts';
import type { Operation } from '../store/audit-log.ts';
import type { IfMatch } from '../store/if-match.ts';
import type { SecretBox } from '../access/secret-box.ts';
import { DomainError, throwFieldErrors } from '../platform/domain-error.ts';
import { findUrlProblem } from '../platform/guarded-agent.ts';
import type { ResourceManager } from '../resource/resource-manager.ts';
import type { Stored } from '../resource/resource.ts';
import type { Versioned } from '../resource/resource-store.ts';
import { clearFailures, restartFailurePeriod } from './endpoint-health.ts';
import { createWebhookSecret, expireWebhookSecrets } from './webhook-secrets.ts';

interface Deps {
  resourceManager: ResourceManager;
  box: SecretBox;
  clock: Clock;
  /** Whether the service runs in development mode, in which sandbox webhooks may use loopback IPs. */
  development: boolean;
}

interface Target {
  id: string;
  ifMatch: IfMatch;
}

/** Changes webhooks on behalf of operators and the service. Each call runs in the caller's transaction. */
export interface WebhookService {
  /** Creates a webhook. Only the returned document contains its secret. */
  create(operation: Operation, request: WebhookRequest): Promise<Versioned<Webhook>>;
  update(operation: Operation, target: Target, change: WebhookUpdate): Promise<Versioned<Webhook>>;
  delete(operation: Operation, target: Target): Promise<void>;
  /** Creates a new secret. Older secrets stay active for up to `overlapS` seconds. */
  rotateSecret(operation: Operation, id: string, overlapS: number): Promise<Versioned<Webhook>>;
  disable(operation: Operation, id: string, reason: 'gone' | 'failing'): Promise<void>;
  /**
   * Enables a webhook that was disabled as `failing`.
   *
   * @throws DomainError when the webhook has been deleted, or is no longer disabled as `failing`.
   */
  reenable(operation: Operation, id: string): Promise<void>;
}

export function createWebhookService(deps: Deps): WebhookService {
  const { resourceManager, box, clock, development } = deps;
  const checkUrl = ({ scope }: Operation, url: string | undefined): void => {
    const allowsLoopback = development && scope.environment === 'sandbox';
    const message =
      url === undefined ? undefined : findUrlProblem(url, { development: allowsLoopback });
    if (message !== undefined) throwFieldErrors([{ pointer: '/url', message }]);
  };
  const now = () => formatInstant(clock.nowMs());
  const createSecret = ({ queries, scope }: Operation, webhookId: string) =>
    createWebhookSecret(queries, box, { accountId: scope.accountId, webhookId }, clock.nowMs());

  return {
    async create(operation, { url, events }) {
      checkUrl(operation, url);
      const { document, revision } = await resourceManager.create(operation, 'webhook', {
        url,
        events,
        status: 'enabled',
      });
      const secret = await createSecret(operation, document.id);
      return { document: { ...document, secret }, revision };
    },
    async update(operation, { id, ifMatch }, { status, ...change }) {
      checkUrl(operation, change.url);
      if (status === 'enabled') {
        const { queries, scope } = operation;
        await restartFailurePeriod(
          queries,
          { accountId: scope.accountId, webhookId: id },
          clock.nowMs(),
        );
      }
      return resourceManager.change(operation, { kind: 'webhook', id, ifMatch }, (before) => {
        const after = { ...before, ...change } as Stored<'webhook'>;
        if (status === undefined || status === before.status) return after;
        return status === 'enabled'
          ? enableWebhook(after)
          : disableWebhook(after, 'operator', now());
      });
    },
    delete: (operation, { id, ifMatch }) =>
      resourceManager.archive(operation, { kind: 'webhook', id, ifMatch }),
    async rotateSecret(operation, id, overlapS) {
      const { queries, scope } = operation;
      const target = { kind: 'webhook' as const, id, ifMatch: undefined, action: 'secret_rotated' };
      const { document, revision } = await resourceManager.change(
        operation,
        target,
        (before) => before,
      );
      await expireWebhookSecrets(
        queries,
        { accountId: scope.accountId, webhookId: id },
        clock.nowMs() + overlapS * 1_000,
      );
      return { document: { ...document, secret: await createSecret(operation, id) }, revision };
    },
    async disable(operation, id, reason) {
      const target = { kind: 'webhook' as const, id, ifMatch: undefined, action: 'disabled' };
      await resourceManager.change(operation, target, (before) =>
        disableWebhook(before, reason, now()),
      );
    },
    async reenable(operation, id) {
      const { queries, scope } = operation;
      const target = { kind: 'webhook' as const, id, ifMatch: undefined, action: 'enabled' };
      await resourceManager.change(operation, target, (before) => {
        if (before.disabled_reason === 'failing') return enableWebhook(before);
        throw new DomainError(
          'conflict',
          'Only a webhook that was disabled because of failed deliveries can be re-enabled automatically.',
        );
      });
      await clearFailures(queries, { accountId: scope.accountId, webhookId: id });
    },
  };
}

const disableWebhook = (
  webhook: Stored<'webhook'>,
  reason: NonNullable<Webhook['disabled_reason']>,
  at: string,
): Stored<'webhook'> => ({
  ...webhook,
  status: 'disabled',
  disabled_reason: reason,
  disabled_at: at,
});

function enableWebhook(webhook: Stored<'webhook'>): Stored<'webhook'> {
  const { disabled_reason: _reason, disabled_at: disabledAt, ...settings } = webhook;
  const missedSince = settings.missed_since ?? disabledAt;
  return {
    ...settings,
    status: 'enabled',
    ...(missedSince === undefined ? {} : { missed_since: missedSince }),
  };
}
