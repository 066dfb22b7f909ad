import { randomUUID } from 'node:crypto';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { MakeDecision } from './decision/decision-service.ts';
import type { DecisionTokens } from './decision/token.ts';
import type { TakeIn } from './event/intake.ts';
import { collectMethods } from './http/allowed-methods.ts';
import { addAuthentication } from './http/authenticate.ts';
import { addPreflight } from './http/cors.ts';
import { addJsonBody } from './http/json-body.ts';
import { addOpenApi } from './http/openapi.ts';
import { problemDocument, ProblemError, toProblemError } from './http/problem.ts';
import { addDecisionRoutes } from './http/routes/decisions.ts';
import { addEventRoutes } from './http/routes/events.ts';
import { addHealthRoutes } from './http/routes/health.ts';
import { addMediaRoutes } from './http/routes/media.ts';
import { addResourceReads } from './http/routes/resources.ts';
import { addRewardRoutes } from './http/routes/reward-status.ts';
import { addWebhookRoutes } from './http/routes/webhooks.ts';
import { addValidation } from './http/validation.ts';
import type { Clock } from './platform/clock.ts';
import type { Configuration } from './resource/configuration.ts';
import type { ResourceStore } from './resource/resource-store.ts';
import type { Receipts } from './reward/receipt.ts';
import type { ReadReward } from './reward/reward-status.ts';
import type { Database } from './store/database.ts';
import type { WebhookService } from './webhook/webhook-service.ts';

/** Everything that the routes need. */
export interface AppParts {
  database: Database;
  configuration: Configuration;
  resources: ResourceStore;
  makeDecision: MakeDecision;
  takeIn: TakeIn;
  readReward: ReadReward;
  tokens: DecisionTokens;
  receipts: Receipts;
  webhooks: WebhookService;
  mediaDirectory: string;
  development: boolean;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Logger;
}

const bodyLimit = 64 * 1024;

/** Builds the HTTP application; it listens to nothing yet. */
export async function createApp(parts: AppParts): Promise<FastifyInstance> {
  const { configuration, clock } = parts;
  const log: FastifyBaseLogger = parts.log;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
  });
  app.addHook('onRequest', async (request, reply) => void reply.header('request-id', request.id));
  // Otherwise a client keeps the connection, and with it the process that is to end.
  app.addHook('onSend', async (_request, reply) => {
    if (parts.stopping.aborted) void reply.header('connection', 'close');
  });
  addErrors(app);
  addJsonBody(app);
  addValidation(app);
  addAuthentication(app, { clock, findKey: configuration.findKey });
  await addOpenApi(app);
  addPreflight(app);
  addHealthRoutes(app, parts);
  addMediaRoutes(app, parts);
  addDecisionRoutes(app, parts);
  addEventRoutes(app, parts);
  addRewardRoutes(app, parts);
  addWebhookRoutes(app, parts);
  addResourceReads(app, parts, { kind: 'webhook', schema: 'Webhook', path: '/v1/webhooks' });
  addResourceReads(app, parts, { kind: 'placement', schema: 'Placement', path: '/v1/placements' });
  return app;
}

/** Answers every refusal and failure with a problem document. */
function addErrors(app: FastifyInstance): void {
  const methodsOf = collectMethods(app);
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblemError(error);
    const document = problemDocument(problem, request.id);
    if (document.status >= 500 && problem !== error) {
      request.log.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        'a request failed',
      );
    }
    if (problem.options.retryAfterS !== undefined)
      void reply.header('retry-after', problem.options.retryAfterS);
    if (document.status === 401) void reply.header('www-authenticate', 'Bearer');
    return reply.code(document.status).type('application/problem+json').send(document);
  });
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url.split('?')[0] ?? '');
    if (methods.length === 0)
      throw new ProblemError('not_found', 'There is nothing at this address.');
    void reply.header('allow', methods.join(', '));
    throw new ProblemError('method_not_allowed', `This address takes ${methods.join(', ')}.`);
  });
}
