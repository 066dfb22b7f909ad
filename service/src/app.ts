import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Logger } from 'pino';
import type { MakeDecision } from './decision/decision-service.ts';
import type { DecisionTokens } from './decision/token.ts';
import type { TryRequest } from './decision/try-request.ts';
import type { NoteDropped } from './event/dropped-events.ts';
import type { TakeIn } from './event/intake.ts';
import { collectMethods } from './http/allowed-methods.ts';
import { addAuthentication, createAdmitKey } from './http/authenticate.ts';
import { addAddressCheck } from './http/check-address.ts';
import { addPreflight } from './http/cors.ts';
import type { Country } from './http/country.ts';
import { addJsonBody } from './http/json-body.ts';
import { addOpenApi } from './http/openapi.ts';
import { answerProblem, ProblemError } from './http/problem.ts';
import { addDecisionRoutes } from './http/routes/decisions.ts';
import type { RateLimiter } from './http/limits/rate-limits.ts';
import { addDocs } from './http/routes/docs.ts';
import { addMetrics } from './http/routes/metrics.ts';
import { addReportRoutes } from './http/routes/reports.ts';
import { addEventRoutes } from './http/routes/events.ts';
import { addHealthRoutes } from './http/routes/health.ts';
import { addMediaRoutes } from './http/routes/media.ts';
import { addAuditRoutes } from './http/routes/audit.ts';
import { addDeliveryRoutes } from './http/routes/deliveries.ts';
import { addKeyRoutes } from './http/routes/keys.ts';
import { managedResources, webhookResource } from './http/routes/resource-definitions.ts';
import { addPanel } from './http/routes/panel/panel.ts';
import { addResourceReads } from './http/routes/resources.ts';
import { addResourceWrites, addReviewRoute } from './http/routes/resource-writes.ts';
import { addRewardRoutes } from './http/routes/reward-status.ts';
import { addWebhookEventRoutes } from './http/routes/webhook-events.ts';
import { addWebhookRoutes } from './http/routes/webhooks.ts';
import { createSessionAccess } from './http/session-access.ts';
import { createSessionCookie } from './http/session-cookie.ts';
import { addValidation } from './http/validation.ts';
import type { ServiceMetrics } from './http/service-metrics.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { MediaStore } from './media/media-store.ts';
import type { Uploads } from './media/uploads.ts';
import type { RunOperation } from './http/operations.ts';
import type { LiveTail } from './inspect/live-tail.ts';
import type { ManageKeys } from './key/manage-keys.ts';
import type { KeyPrincipal } from './key/principal.ts';
import { addUserTokenRoutes } from './http/routes/user-token-secrets.ts';
import type { UserTokens } from './key/user-tokens.ts';
import type { Clock } from './platform/clock.ts';
import type { Configuration } from './resource/configuration.ts';
import type { Manage } from './resource/manage.ts';
import type { ResourceStore } from './resource/resource-store.ts';
import type { Receipts } from './reward/receipt.ts';
import type { ReadReward } from './reward/reward-status.ts';
import type { Database } from './store/database.ts';
import type { Tracing } from './trace/tracing.ts';
import type { Users } from './user/create-users.ts';
import type { EventBodies } from './webhook/event-body.ts';
import type { Redelivery } from './webhook/redelivery.ts';
import type { WebhookService } from './webhook/webhook-service.ts';

/** Everything that the routes need. */
export interface AppParts {
  database: Database;
  configuration: Configuration;
  resources: ResourceStore;
  makeDecision: MakeDecision;
  userTokens: UserTokens;
  takeIn: TakeIn;
  noteDropped: NoteDropped;
  readReward: ReadReward;
  tokens: DecisionTokens;
  receipts: Receipts;
  webhooks: WebhookService;
  users: Users;
  liveTail: LiveTail;
  tryRequest: TryRequest;
  /** The address that the service is known by. */
  address(): string;
  eventBodies: EventBodies;
  redelivery: Redelivery;
  manage: Manage;
  manageKeys: ManageKeys;
  runOperation: RunOperation;
  /** Told of every request whose key is good. */
  onUse(principal: KeyPrincipal): void;
  /** Told of a secret key that came from a web page. */
  onLeak(principal: KeyPrincipal, origin: string, requestId: string): Promise<void>;
  limiter: RateLimiter;
  metrics: ServiceMetrics;
  metricsToken: string | undefined;
  tracing: Pick<Tracing, 'listener' | 'named'>;
  /** Whose X-Forwarded-For is believed. */
  trustedProxies: string[] | undefined;
  country: Country;
  mediaDirectory: string;
  mediaStore: MediaStore;
  uploads: Uploads;
  audit: AuditLog;
  /** Aborts when the service is about to stop, while it still takes requests. */
  draining: AbortSignal;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Logger;
}

const bodyLimit = 64 * 1024;
/** Longer than a balancer keeps an idle connection (60 s mostly), so that it never sends into one that is being closed. */
const keepAliveMs = 72_000;

/** Builds the HTTP application; it listens to nothing yet. */
export async function createApp(parts: AppParts): Promise<FastifyInstance> {
  const { configuration, clock, limiter, onUse, onLeak } = parts;
  const log: FastifyBaseLogger = parts.log;
  const { tracing } = parts;
  const app = Fastify({
    serverFactory(rest) {
      const listener: typeof rest = (request, response) => {
        parts.country.screen(request);
        rest(request, response);
      };
      const traced = tracing.listener?.(listener) ?? listener;
      return createServer({ keepAliveTimeout: keepAliveMs }, traced);
    },
    loggerInstance: log,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit,
    trustProxy: parts.trustedProxies ?? false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    // For URLs that the router refuses before any hook runs.
    frameworkErrors: (error, request, reply) => {
      void reply.header('request-id', request.id);
      sendProblem(error, request, reply);
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    tracing.named(request.raw, request.id, request.routeOptions.url);
    void reply.header('request-id', request.id);
  });
  // Otherwise a client keeps the connection, and with it the process that is to end.
  app.addHook('onSend', async (_request, reply) => {
    if (parts.draining.aborted) void reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => {
    if (!parts.log.isLevelEnabled('debug')) return;
    const { method, routeOptions, id } = request;
    const { statusCode: status, elapsedTime } = reply;
    const ms = Math.round(elapsedTime);
    log.debug({ request_id: id, method, route: routeOptions.url, status, ms }, 'answered');
  });
  addErrors(app);
  addMetrics(app, parts);
  addJsonBody(app);
  addAddressCheck(app);
  addValidation(app);
  const cookie = createSessionCookie(parts.address);
  const sessions = createSessionAccess({
    sessions: parts.users.sessions,
    cookie,
    limiter,
    address: parts.address,
  });
  const { findKey } = configuration;
  const admitKey = createAdmitKey({ clock, findKey, limiter, onUse, onLeak });
  addAuthentication(app, admitKey, sessions);
  app.decorateRequest('session', null);
  await addOpenApi(app);
  addDocs(app);
  addPreflight(app);
  addHealthRoutes(app, parts);
  await addMediaRoutes(app, parts);
  addDecisionRoutes(app, parts);
  addEventRoutes(app, parts);
  addRewardRoutes(app, parts);
  addOperatorRoutes(app, parts);
  await addPanel(app, sessions, { ...parts, cookie });
  return app;
}

/** What secret keys manage. */
function addOperatorRoutes(app: FastifyInstance, parts: AppParts): void {
  for (const definition of managedResources) {
    addResourceReads(app, parts, definition);
    addResourceWrites(app, parts, definition);
  }
  addReviewRoute(app, parts);
  addResourceReads(app, parts, webhookResource);
  addWebhookRoutes(app, parts);
  addDeliveryRoutes(app, parts);
  addWebhookEventRoutes(app, parts);
  addKeyRoutes(app, parts);
  addUserTokenRoutes(app, parts);
  addAuditRoutes(app, parts);
  addReportRoutes(app, parts);
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { document, headers, unexpected } = answerProblem(error, request.id);
  if (unexpected) {
    request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed');
  }
  void reply.code(document.status).headers(headers).send(document);
}

/** Answers every refusal and failure with a problem document. */
function addErrors(app: FastifyInstance): void {
  const methodsOf = collectMethods(app);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url.split('?')[0] ?? '');
    // A file route takes the method, and found no such file.
    if (methods.length === 0 || methods.includes(request.method))
      throw new ProblemError('not_found', 'There is nothing at this address.');
    void reply.header('allow', methods.join(', '));
    throw new ProblemError('method_not_allowed', `This address takes ${methods.join(', ')}.`);
  });
}
