import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { createLatestMistakes } from '../history/latest-mistakes.ts';
import type { Configuration } from '../decision/configuration.ts';
import type { MakeDecision, Pseudonymize } from '../decision/decision-service.ts';
import type { MakeId } from '../platform/ids.ts';
import type { DryRun, TrySource } from '../decision/dry-run.ts';
import type { DecisionTokens } from '../decision/token.ts';
import type { RecordDropped } from '../reward/dropped-events.ts';
import type { ConfirmView } from '../reward/confirm-view.ts';
import type { IngestEvents } from '../reward/ingest-events.ts';
import type { KeyManager } from '../access/key-manager.ts';
import type { PlayerSighting } from '../access/player-use.ts';
import type { KeyPrincipal } from '../access/principal.ts';
import { readServiceSecret, type SecretBox } from '../access/secret-box.ts';
import { createPlayerTokens } from '../access/player-tokens.ts';
import type { UserTokens } from '../access/user-tokens.ts';
import type { MediaStore } from '../media/media-store.ts';
import type { ProbeThread } from '../media/probe-thread.ts';
import type { Uploads } from '../media/unused-uploads.ts';
import type { Clock } from '../platform/time.ts';
import type { RequestHeaders } from '../resource/request-headers.ts';
import type { ResourceManager } from '../resource/resource-manager.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import { createSourceCallbacks, type SourceCallbacks } from '../resource/source-callbacks.ts';
import type { Receipts } from '../reward/receipt.ts';
import type { ReadReward } from '../reward/reward-status.ts';
import type { AuditLog } from '../store/audit-log.ts';
import { type Database, forReads } from '../store/database.ts';
import type { ServiceRetention } from '../store/account-retention.ts';
import type { Quotas } from '../store/quotas.ts';
import type { Tracing } from '../trace/tracing.ts';
import type { Users } from '../access/create-users.ts';
import type { EventBodies } from '../webhook/event-writer.ts';
import type { Redelivery } from '../webhook/redelivery.ts';
import type { WalletService } from '../wallet/wallet-service.ts';
import type { WebhookService } from '../webhook/webhook-service.ts';
import { addAuthentication, addPreflight, createAdmitKey } from './authentication/authenticate.ts';
import { type Country, createIdentifyToken } from './authentication/identify-player.ts';
import { createSessionAccess, createSessionCookie } from './authentication/session-access.ts';
import { createAddressEdge } from './client-address.ts';
import { addMediaRoutes } from './files.ts';
import type { RateLimiter } from './limits/rate-limits.ts';
import { addHealthRoutes } from './monitoring/health.ts';
import { addMetrics, type ServiceMetrics } from './monitoring/metrics.ts';
import { addDocs } from './docs-page.ts';
import { addOpenApi } from './openapi.ts';
import type { RunOperation } from './operations.ts';
import { addPanel } from './panel/panel.ts';
import { addErrorHandler, sendProblem } from './problem.ts';
import {
  addContinue,
  addEmptyBody,
  addEncodingCheck,
  addJsonBody,
  addSizeCheck,
  addUrlCheck,
} from './request-bodies.ts';
import { addAuditRoutes } from './routes/audit.ts';
import { addDecisionRoutes } from './routes/decisions.ts';
import { addDeliveryRoutes } from './routes/deliveries.ts';
import { addEventRoutes } from './routes/events.ts';
import { addJobRoutes } from './routes/jobs.ts';
import { addKeyRoutes, addUserTokenRoutes } from './routes/keys.ts';
import { addMistakeRoutes } from './routes/mistakes.ts';
import { addPlayerRoutes } from './routes/players.ts';
import { addPlayerWalletRoutes } from './routes/player-wallets.ts';
import { addRetentionRoutes } from './routes/retention.ts';
import { addReportRoutes } from './routes/reports.ts';
import { addWalletOperationRoutes } from './routes/wallet-operations.ts';
import {
  addResourceReads,
  addResourceWrites,
  addReviewRoute,
  managedResources,
  webhookResource,
} from './routes/resources.ts';
import { addRewardRoutes } from './routes/reward-status.ts';
import { addSourceCallbacks, addSourceCallbackSettings } from './routes/source-callbacks.ts';
import { addUsageRoutes } from './routes/usage.ts';
import { addTransferRoute, addWalletRoutes } from './routes/wallet.ts';
import {
  addWebhookEventRoutes,
  addWebhookHealthRoute,
  addWebhookRoutes,
} from './routes/webhooks.ts';
import { createHttpServer, handleClientError } from './server.ts';
import { addValidation } from './validation.ts';

/** Dependencies for the routes. */
interface AppDeps {
  database: Database;
  box: SecretBox;
  configuration: Configuration;
  resources: ResourceStore;
  makeDecision: MakeDecision;
  userTokens: UserTokens;
  ingestEvents: IngestEvents;
  confirmView: ConfirmView;
  recordDropped: RecordDropped;
  readReward: ReadReward;
  wallets: WalletService;
  tokens: DecisionTokens;
  pseudonym: Pseudonymize;
  makeId: MakeId;
  receipts: Receipts;
  webhooks: WebhookService;
  users: Users;
  dryRun: DryRun;
  trySource: TrySource;
  /** Returns a source's hosts whose circuit breakers are open in this process. */
  openHosts(sourceId: string): string[];
  /** The service's public URL. */
  publicUrl(): string;
  eventBodies: EventBodies;
  redelivery: Redelivery;
  resourceManager: ResourceManager;
  requestHeaders: RequestHeaders;
  keyManager: KeyManager;
  quotas: Quotas;
  retention: ServiceRetention;
  runOperation: RunOperation;
  /** Called for every request with a valid key. */
  onUse(principal: KeyPrincipal, origin: string | undefined): void;
  /** Called for every request for an ad with a key. */
  onPlayer(principal: KeyPrincipal, sighting: PlayerSighting): void;
  /** Called when a web page sends a secret key. Resolves to whether that was news. */
  onLeak(principal: KeyPrincipal, origin: string, requestId: string): Promise<boolean>;
  limiter: RateLimiter;
  metrics: ServiceMetrics;
  metricsToken: string | undefined;
  tracing: Pick<Tracing, 'listener' | 'nameRequest'>;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[] | undefined;
  country: Country;
  mediaDirectory: string;
  mediaStore: MediaStore;
  uploads: Uploads;
  probeMedia: ProbeThread['probe'];
  audit: AuditLog;
  /** Aborts when the service starts to drain. At that point, the service still accepts requests. */
  draining: AbortSignal;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Logger;
}

const bodyLimit = 64 * 1024;

/** Creates the HTTP application, but does not start listening. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { configuration, clock, limiter, onUse, onLeak } = deps;
  const log: FastifyBaseLogger = deps.log;
  const { tracing } = deps;
  const normalizeAddress = createAddressEdge(deps.trustedProxies);
  const app = Fastify({
    serverFactory(handle) {
      const listener: typeof handle = (request, response) => {
        deps.country.stripUntrusted(request);
        normalizeAddress(request);
        handle(request, response);
      };
      return createHttpServer(
        tracing.listener?.(listener) ?? listener,
        () => deps.stopping.aborted,
      );
    },
    clientErrorHandler: handleClientError,
    loggerInstance: log,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit,
    // A `user_ref` has up to 128 characters, each of which may be escaped.
    routerOptions: { maxParamLength: 3 * 128 },
    trustProxy: deps.trustedProxies ?? false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    // Handles URLs that the router rejects before any hook runs.
    frameworkErrors: (error, request, reply) => {
      void reply.header('request-id', request.id);
      sendProblem(error, request, reply);
    },
  });
  // These hooks are synchronous and run for every request. They use callbacks to avoid the overhead of promises.
  app.addHook('onRequest', (request, reply, done) => {
    tracing.nameRequest(request.raw, request.id, request.routeOptions.url);
    void reply.header('request-id', request.id);
    done();
  });
  // While the process drains, ask clients to close their connections, because an open connection would keep it alive.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (deps.draining.aborted) void reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    done();
    if (!deps.log.isLevelEnabled('debug')) return;
    const { method, routeOptions, id } = request;
    const { statusCode: status, elapsedTime } = reply;
    const ms = Math.round(elapsedTime);
    log.debug({ request_id: id, method, route: routeOptions.url, status, ms }, 'request completed');
  });
  addContinue(app);
  addSizeCheck(app);
  addErrorHandler(app);
  addMetrics(app, deps);
  addJsonBody(app);
  addEmptyBody(app);
  addUrlCheck(app);
  addValidation(app);
  const cookie = createSessionCookie(deps.publicUrl);
  const sessions = createSessionAccess({
    sessions: deps.users.sessions,
    cookie,
    limiter,
    clock,
    publicUrl: deps.publicUrl,
  });
  const { findKey, isComplete } = configuration;
  const admitKey = createAdmitKey({ clock, findKey, isComplete, limiter, onUse, onLeak });
  addAuthentication(app, admitKey, sessions);
  addEncodingCheck(app);
  app.decorateRequest('session', null);
  const limitAddress = async (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
    limiter.onUnauthenticated(request, reply);
  await addOpenApi(app, limitAddress);
  addDocs(app, limitAddress);
  addPreflight(app);
  addHealthRoutes(app, deps);
  await addMediaRoutes(app, deps);
  const tokenSecret = await readServiceSecret(deps.database, deps.box, clock, 'player_token');
  const playerTokens = createPlayerTokens({ ...deps, tokenSecret });
  const identifyToken = createIdentifyToken(deps.userTokens, playerTokens);
  const latestMistakes = createLatestMistakes(deps.database, clock);
  addDecisionRoutes(app, { ...deps, identifyToken, latestMistakes });
  addEventRoutes(app, deps);
  addRewardRoutes(app, deps);
  const sourceCallbacks = createSourceCallbacks(deps);
  await addSourceCallbacks(app, { ...deps, sourceCallbacks });
  const walletDeps = { ...deps, identifyToken, playerTokens };
  addWalletRoutes(app, walletDeps);
  addTransferRoute(app, walletDeps);
  // Their writes use `runOperation`, which has its own connections: an emergency stop never waits for a list.
  const operatorDeps = { ...deps, sourceCallbacks, database: forReads(deps.database) };
  addOperatorRoutes(app, operatorDeps);
  addPlayerWalletRoutes(app, { ...operatorDeps, playerTokens });
  await addPanel(app, sessions, { ...operatorDeps, cookie });
  return app;
}

/** Adds the routes for secret keys. */
function addOperatorRoutes(
  app: FastifyInstance,
  deps: AppDeps & { sourceCallbacks: SourceCallbacks },
): void {
  for (const definition of managedResources) {
    addResourceReads(app, deps, definition);
    addResourceWrites(app, deps, definition);
  }
  addReviewRoute(app, deps);
  addSourceCallbackSettings(app, deps);
  addResourceReads(app, deps, webhookResource);
  addWebhookRoutes(app, deps);
  addWebhookHealthRoute(app, deps);
  addDeliveryRoutes(app, deps);
  addJobRoutes(app, deps);
  addMistakeRoutes(app, deps);
  addPlayerRoutes(app, deps);
  addWebhookEventRoutes(app, deps);
  addKeyRoutes(app, deps);
  addUserTokenRoutes(app, deps);
  addAuditRoutes(app, deps);
  addReportRoutes(app, deps);
  addWalletOperationRoutes(app, deps);
  addUsageRoutes(app, deps);
  addRetentionRoutes(app, deps);
}
