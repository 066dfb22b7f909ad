import { createLeakRecorder } from '../access/key-store.ts';
import { startKeyUsage } from '../access/key-usage.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createApp } from '../http/app.ts';
import { createAuditLog } from '../store/audit-log.ts';
import type { Config } from './config/config.ts';
import { createCheckSource, type Demand, startDemand } from '../demand/index.ts';
import { createCountry } from '../http/authentication/identify-player.ts';
import { createRequirePermission } from '../http/authentication/require-permission.ts';
import { createRunOperation } from '../http/operations.ts';
import {
  addStateMetrics,
  createServiceMetrics,
  type ServiceMetrics,
} from '../http/monitoring/metrics.ts';
import { openRateLimits } from '../http/limits/open-rate-limits.ts';
import { openMedia } from '../media/open-media.ts';
import { createKeyManager } from '../access/key-manager.ts';
import { openSecretBox } from '../access/secret-box.ts';
import { createUserTokens } from '../access/user-tokens.ts';
import { createStarted, type Started } from '../platform/started.ts';
import type { Clock } from '../platform/time.ts';
import { createIds, type MakeId } from '../platform/ids.ts';
import { rejectShortRetention } from '../resource/check-document.ts';
import { openConfiguration, type Configuration } from '../decision/configuration.ts';
import { isAdKilled } from '../decision/kill-switches.ts';
import { createRequestHeaders } from '../resource/request-headers.ts';
import { startKillSwitchExpiry } from '../resource/expire-kill-switches.ts';
import { createResourceManager } from '../resource/resource-manager.ts';
import { createLaneDeps } from '../store/lanes.ts';
import { createQuotas } from '../store/quotas.ts';
import { incrementConfigVersion } from '../store/config-version.ts';
import { createResourceStore, type ResourceStore } from '../resource/resource-store.ts';
import { type Database, forChanges } from '../store/database.ts';
import type { DatabaseClock } from '../store/database-clock.ts';
import { openDatabase, openServiceDatabase } from '../store/open-database.ts';
import { openTracing, type Tracing } from '../trace/tracing.ts';
import { startBackground } from './start-background.ts';
import { startDecisions } from '../decision/start-decisions.ts';
import { startRewards } from '../reward/start-rewards.ts';
import { createPasswords, type Passwords } from '../access/credentials.ts';
import { createUsers, type Users } from '../access/create-users.ts';
import { createEventBodies, createEventWriter } from '../webhook/event-writer.ts';
import { startDeliveries } from '../webhook/start-deliveries.ts';
import { createWalletService } from '../wallet/wallet-service.ts';

/** A running service. */
export interface Service {
  app: FastifyInstance;
  database: Database;
  configuration: Configuration;
  resources: ResourceStore;
  makeId: MakeId;
  users: Users;
  intake: Demand['intake'];
  clock: Clock;
  /** Sets the URL that the service listens on. Returns the service's public URL. */
  setListenUrl(url: string): string;
  /** Makes `/readyz` fail, so that no new traffic is routed to this process. Requests are still served. */
  drain(): void;
  /**
   * Stops the service, once. Resolves when everything that the service has acknowledged is committed to the database.
   */
  stop(): Promise<void>;
}

/** How long open connections may take to finish during shutdown before they are closed. */
const closeConnectionsAfterMs = 3_000;

/**
 * Opens the database and the clock, then creates and connects all components.
 *
 * @param openClock opens the service's clock, which follows the database's
 */
export async function assemble(
  config: Config,
  openClock: (database: Database) => Promise<Clock & Partial<DatabaseClock>>,
  log: Logger,
  open: typeof openDatabase = openDatabase,
  passwords: Passwords = createPasswords(),
): Promise<Service> {
  const metrics = createServiceMetrics();
  const started = createStarted();
  try {
    const tracing = started.add(await openTracing(config.traces, log));
    const database = await openServiceDatabase(config, log, metrics.observeDatabase, open);
    started.add({ stop: () => database.close() });
    const clock = await openClock(database);
    started.add({ stop: () => clock.stop?.() });
    return await wire(config, clock, log, { database, metrics, tracing, started }, passwords);
  } catch (error) {
    await started.stopAll();
    throw error;
  }
}

interface Opened {
  database: Database;
  metrics: ServiceMetrics;
  tracing: Tracing;
  /** Gets all parts that run, in case that a later one cannot be started. */
  started: Started;
}

async function wire(
  config: Config,
  clock: Clock & Partial<DatabaseClock>,
  log: Logger,
  { database, metrics, tracing, started }: Opened,
  passwords: Passwords,
): Promise<Service> {
  const retentionMs = config.retention.decisionsMs;
  await rejectShortRetention(database, retentionMs);
  const box = openSecretBox(config);
  const makeId = createIds(clock, randomBytes);
  const resources = createResourceStore(clock, makeId);
  const configuration = started.add(await openConfiguration({ database, clock, log }));
  const bodies = createEventBodies(box);
  const writeEvents = createEventWriter({
    clock,
    makeId,
    bodies,
    subscriptions: (scope) => configuration.snapshot(scope),
  });
  const audit = createAuditLog(clock, makeId);
  const changeDeps = { clock, makeId, audit, quotas: createQuotas(config.quotas, clock) };
  const { development, singleSignOn } = config;
  const checkSource = createCheckSource(development);
  const managerDeps = { ...changeDeps, resources, writeEvents, retentionMs, checkSource };
  const resourceManager = createResourceManager(managerDeps);
  const requestHeaders = createRequestHeaders(database, box, clock);
  const { poolSize } = config.databaseLimits;
  const laneDeps = createLaneDeps({ database, tracing, clock, log, poolSize });
  const demandMetrics = metrics.demand;
  const deps = { database, configuration, box, clock, log, tracing, development, demandMetrics };
  const deliveries = started.add(
    await startDeliveries({
      ...deps,
      resources,
      resourceManager,
      audit,
      bodies,
      makeId,
      lanes: laneDeps('deliveries'),
      isOnlyProcess: config.databaseUrl === undefined,
      onAttempt: metrics.observeDelivery,
    }),
  );

  const [draining, stopping] = [new AbortController(), new AbortController()];
  let publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
  const media = started.add(openMedia({ ...changeDeps, config, database, log, tracing }));
  const demand = started.add(
    startDemand({
      ...deps,
      resourceManager,
      audit,
      mediaStore: media.store,
      mediaDirectory: config.mediaDirectory,
      uploads: media.uploads,
      publicUrl: () => publicUrl,
      wake: deliveries.wake,
      unofferedRetentionMs: config.unofferedRetentionMs,
      lanes: laneDeps('trackers'),
      isKilled: (scope, ad) => isAdKilled(configuration.snapshot(scope), ad, clock.nowMs()),
      readHeaders: requestHeaders.read,
      stopping: stopping.signal,
    }),
  );
  const onDeliveries = deliveries.wake;
  const decisions = await startDecisions({
    ...deps,
    makeId,
    writeEvents,
    demand,
    demandBudgetMs: config.demandBudgetMs,
    lanes: laneDeps('decisions'),
    onDeliveries,
  });
  const { tokens, pseudonym } = decisions;
  const rewards = started.add(
    await startRewards({
      ...deps,
      tokens,
      pseudonym,
      writeEvents,
      publicUrl: () => publicUrl,
      lanes: laneDeps('events'),
      onDeliveries,
      onTrackers: demand.wakeTrackers,
    }),
  );
  const walletDeps = { ...deps, makeId, writeEvents, onDeliveries };
  const wallets = createWalletService({ ...walletDeps, lanes: laneDeps('spends') });
  const lanes = { decisions: decisions.lane, events: rewards.lane, spends: wallets.lane };
  const { retention } = config;
  const { recoveryStep } = deliveries;
  const background = started.add(
    await startBackground({ ...deps, retention, recoveryStep, onStep: deliveries.wake }),
  );
  const killSwitchExpiry = started.add(
    startKillSwitchExpiry({
      ...deps,
      resources,
      resourceManager,
      listExpired: configuration.expiredKillSwitches,
      async onChange(accountId) {
        await configuration.refresh(accountId);
        deliveries.wake();
      },
    }),
  );
  // Set only if several processes can share the database. The embedded database allows only one process.
  const processId = config.databaseUrl === undefined ? undefined : randomUUID();
  const rateLimits = started.add(await openRateLimits(config.rateLimits, { ...deps, processId }));
  const ceiling = config.rateLimits?.keyCeiling;
  const users = createUsers({ ...changeDeps, database, box, passwords, singleSignOn });
  const keyUse = started.add(startKeyUsage(database, clock, log));
  addStateMetrics(metrics.registry, {
    database,
    configuration,
    lanes,
    heldRequests: rewards.waiting,
    intake: demand.intake,
    clock,
    clockState: clock.state,
  });
  const app = await createApp({
    database,
    configuration,
    makeDecision: decisions.makeDecision,
    dryRun: decisions.dryRun,
    trySource: decisions.trySource,
    openHosts: demand.openHosts,
    userTokens: createUserTokens({ ...changeDeps, database, box }),
    ...rewards,
    wallets,
    tokens,
    pseudonym,
    webhooks: deliveries.webhooks,
    users,
    retention,
    publicUrl: () => publicUrl,
    box,
    eventBodies: bodies,
    redelivery: deliveries.redelivery,
    resourceManager,
    requestHeaders,
    keyManager: createKeyManager({ ...changeDeps, ceiling, incrementConfigVersion }),
    runOperation: createRunOperation({
      database: forChanges(database),
      configuration,
      box,
      clock,
      requirePermission: createRequirePermission({ sessions: users.sessions, clock }),
      wake() {
        deliveries.wake();
        background.wakeJobs();
      },
    }),
    limiter: rateLimits.limiter,
    metrics,
    metricsToken: config.metricsToken,
    tracing,
    onUse: keyUse.touch,
    onPlayer: keyUse.note,
    onLeak: createLeakRecorder(database, audit, clock),
    trustedProxies: config.trustedProxies,
    country: createCountry(config.countryHeader, config.trustedProxies),
    mediaDirectory: config.mediaDirectory,
    mediaStore: media.store,
    uploads: media.uploads,
    probeMedia: media.probe,
    draining: draining.signal,
    stopping: stopping.signal,
    ...managerDeps,
    log,
  });

  const stopAll = async (): Promise<void> => {
    draining.abort();
    stopping.abort();
    rewards.stop();
    await killSwitchExpiry.stop();
    const closeTimer = setTimeout(() => app.server.closeAllConnections(), closeConnectionsAfterMs);
    await Promise.all([app.close(), deliveries.stop()]);
    clearTimeout(closeTimer);
    await Promise.all([
      ...Object.values(lanes).map((lane) => lane.drain()),
      keyUse.stop(),
      background.stop(),
      demand.stop(),
      media.stop(),
      rateLimits.stop(),
    ]);
    clock.stop?.();
    await Promise.all([tracing.stop(), configuration.stop().then(() => database.close())]);
  };
  let stopped: Promise<void> | undefined;
  return {
    app,
    database,
    configuration,
    resources,
    makeId,
    users,
    intake: demand.intake,
    clock,
    setListenUrl(url) {
      publicUrl = config.publicUrl ?? url;
      return publicUrl;
    },
    drain: () => draining.abort(),
    stop: () => (stopped ??= stopAll()),
  };
}
