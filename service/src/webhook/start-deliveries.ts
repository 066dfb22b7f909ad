import type { Webhook } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { Configuration } from '../decision/configuration.ts';
import type { SecretBox } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import { lockConfiguration } from '../store/config-version.ts';
import type { ResourceManager } from '../resource/resource-manager.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { AuditLog, Operation } from '../store/audit-log.ts';
import type { Database, Scope } from '../store/database.ts';
import type { LaneDeps } from '../store/lanes.ts';
import type { Tracing } from '../trace/tracing.ts';
import { startDispatcher } from './dispatcher.ts';
import type { EventBodies } from './event-writer.ts';
import { createGuardedAgents } from '../platform/guarded-agent.ts';
import { startProbes } from './probe.ts';
import { createAttemptLanes } from './record-attempts.ts';
import { createSender } from './sender.ts';
import { createSecretCache, readWebhookSecrets } from './webhook-secrets.ts';
import { createWebhookService } from './webhook-service.ts';
import { createRecoveryStep } from './recovery.ts';
import { createRedelivery } from './redelivery.ts';
import { releaseAll } from './delivery-store.ts';

interface Deps {
  database: Database;
  configuration: Configuration;
  resources: ResourceStore;
  resourceManager: ResourceManager;
  audit: AuditLog;
  bodies: EventBodies;
  box: SecretBox;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
  lanes: LaneDeps;
  makeId: MakeId;
  development: boolean;
  /** Whether no other process uses the database. */
  isOnlyProcess: boolean;
  /**
   * Called after each attempt with its outcome: `delivered`, `failed`, or `retried` if there will be another attempt.
   */
  onAttempt(outcome: string, seconds: number): void;
}

/**
 * Manages webhooks and delivers their events. Disables endpoints that keep failing, and re-enables them once they have
 * recovered.
 */
export async function startDeliveries(deps: Deps) {
  const { database, configuration, resources, box, clock, log, makeId } = deps;
  // An earlier process can't hold a lease any more.
  if (deps.isOnlyProcess) await releaseAll(database);
  const webhooks = createWebhookService(deps);
  const agents = createGuardedAgents();
  const change = async (
    { accountId, environment }: Scope,
    work: (operation: Operation) => Promise<void>,
  ): Promise<void> => {
    await database.transaction(async (queries) => {
      await lockConfiguration(queries, accountId);
      await work({ queries, scope: { accountId, environment }, actor: 'service' });
    });
    await configuration.refresh(accountId);
  };
  const commonDeps = {
    database,
    clock,
    log,
    tracing: deps.tracing,
    send: createSender({ clock, agents }),
    openBody: deps.bodies.open,
    readSecrets: createSecretCache({
      clock,
      version: configuration.version,
      read: (owner) => readWebhookSecrets(database, box, owner),
    }),
    async disable(scope: Scope, id: string, reason: 'gone' | 'failing') {
      await change(scope, (operation) => webhooks.disable(operation, id, reason));
      log.warn({ webhookId: id, reason }, 'a webhook was disabled');
    },
    development: deps.development,
  };
  const lane = createAttemptLanes(database, deps.lanes);
  const dispatcher = startDispatcher({
    ...commonDeps,
    lane,
    findWebhook: (scope, id) => findWebhook(configuration, scope, id),
    onAttempt: deps.onAttempt,
    random: Math.random,
  });
  const probes = startProbes({
    ...commonDeps,
    makeId,
    resources,
    async enable(scope, id) {
      await change(scope, (operation) => webhooks.reenable(operation, id));
      log.info({ webhookId: id }, 'a webhook recovered and was enabled');
      dispatcher.wake();
    },
  });
  return {
    webhooks,
    redelivery: createRedelivery(deps),
    recoveryStep: createRecoveryStep(deps),
    wake: dispatcher.wake,
    async stop() {
      await Promise.all([dispatcher.stop(), probes.stop()]);
      await lane.drain();
      agents.destroy();
    },
  };
}

/** Finds an enabled webhook. Refreshes the configuration after a miss, because the webhook may be new. */
export async function findWebhook(
  configuration: Configuration,
  scope: Scope,
  id: string,
): Promise<Webhook | undefined> {
  const find = () => configuration.snapshot(scope).webhooks.find((webhook) => webhook.id === id);
  const existing = find();
  if (existing) return existing;
  await configuration.refresh(scope.accountId);
  return find();
}
