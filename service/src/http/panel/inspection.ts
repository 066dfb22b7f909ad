import type { ServerResponse } from 'node:http';
import type { DecisionRequest, PolicyRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { createInspectDecision, listDecisions } from '../../inspect/inspect-decision.ts';
import type { LiveTail } from '../../inspect/live-tail.ts';
import { toPage } from '../../resource/resource-store.ts';
import type { Stored } from '../../resource/resource.ts';
import type { Sessions } from '../../access/sessions.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { getSession } from '../authentication/session-access.ts';
import { notFound, type PageQuery, pageQuerySchema, toCursor } from '../openapi.ts';
import { ProblemError } from '../problem.ts';
import { type PanelDeps, strictBody, textSchema } from './panel-deps.ts';

interface DryRunBody {
  request: DecisionRequest;
  device?: 'desktop' | 'mobile' | 'tablet';
  country?: string;
  policy?: PolicyRequest;
  policy_id?: string;
}

/** These routes are read-only, so every role may use them. */
const config = { panel: 'environment', role: 'viewer' } as const;

const dryRunSchema = strictBody(
  {
    request: { $ref: 'DecisionRequest#' },
    device: { type: 'string', enum: ['desktop', 'mobile', 'tablet'] },
    country: { type: 'string', pattern: '^[A-Z]{2}$' },
    policy: { $ref: 'PolicyRequest#' },
    policy_id: textSchema(64),
  },
  ['request'],
);

/**
 * Adds `/panel/api/decisions`, which returns past decisions, and `/panel/api/policies/try`, which tests a policy in a
 * dry run.
 */
export function addInspectionRoutes(app: FastifyInstance, deps: PanelDeps): void {
  const { database, dryRun } = deps;
  const inspectDecision = createInspectDecision(deps);
  app.get<{ Querystring: PageQuery }>(
    '/panel/api/decisions',
    { config, schema: { hide: true, querystring: pageQuerySchema } },
    async (request) =>
      toPage(
        await listDecisions(database, getPrincipal(request), toCursor(request.query)),
        request.query.limit,
      ),
  );
  app.get<{ Params: { id: string } }>(
    '/panel/api/decisions/:id',
    { config, schema: { hide: true } },
    async (request) => {
      const { id } = request.params;
      const inspection = await inspectDecision(getPrincipal(request), id);
      if (!inspection) throw notFound('decision', id);
      return inspection;
    },
  );
  app.post<{ Body: DryRunBody }>(
    '/panel/api/policies/try',
    { config, schema: { hide: true, body: dryRunSchema } },
    async (request) => {
      const { policy, policy_id: policyId, ...dryRunRequest } = request.body;
      const principal = getPrincipal(request);
      const result = await dryRun(principal, {
        ...dryRunRequest,
        // Schema validation has filled in all default values.
        ...(policy ? { policy: policy as Stored<'policy'> } : {}),
        ...(policyId === undefined ? {} : { policyId }),
      });
      if (result) return result;
      throw new ProblemError(
        'placement_not_found',
        `There is no placement ${dryRunRequest.request.placement} in ${principal.environment}.`,
      );
    },
  );
}

interface Deps {
  liveTail: LiveTail;
  users: { sessions: Sessions };
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** Heartbeats keep proxies from closing an idle connection. The session is checked at the same interval. */
const heartbeatMs = 15_000;
/** Maximum number of concurrent streams per account. */
const maxListeners = 20;
/** A client with a larger backlog of unread data is disconnected. The page then reconnects. */
const maxBufferedBytes = 1_048_576;

/** Adds `/panel/api/live`, which sends sandbox decisions and events as server-sent events until the session ends. */
export function addLiveRoute(app: FastifyInstance, deps: Deps): void {
  const { liveTail, users, stopping } = deps;
  app.get(
    '/panel/api/live',
    // A HEAD request would never complete, because the stream does not end.
    { config: { panel: 'account' }, schema: { hide: true }, exposeHeadRoute: false },
    async (request, reply) => {
      const { user, token } = getSession(request);
      if (liveTail.count(user.accountId) >= maxListeners) {
        throw new ProblemError(
          'rate_limited',
          'The live tail is already open on too many pages in this account.',
          {
            retryAfterS: 60,
          },
        );
      }
      reply.hijack();
      const stream = openStream(reply.raw, {
        'request-id': request.id,
        'cache-control': 'no-store',
      });
      const subscription = liveTail.listen(user.accountId, ({ event, data }) =>
        stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      );
      const disconnect = (error: unknown): void => {
        request.log.warn({ err: error }, 'a live tail was disconnected');
        stream.end();
      };
      // The first bytes signal to the page that it is connected and will not miss anything from now on.
      subscription.ready.then(() => stream.write(': connected\n\n'), disconnect);
      const sendHeartbeat = async (): Promise<void> => {
        if (await users.sessions.find(token, { touch: false })) stream.write(': \n\n');
        else stream.end();
      };
      const timer = setInterval(() => void sendHeartbeat().catch(disconnect), heartbeatMs);
      stopping.addEventListener('abort', stream.end);
      reply.raw.once('close', () => {
        subscription.stop();
        clearInterval(timer);
        stopping.removeEventListener('abort', stream.end);
      });
      return reply;
    },
  );
}

function openStream(response: ServerResponse, headers: Record<string, string>) {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-content-type-options': 'nosniff',
    // Without this header, the connection would stay idle afterward and delay the shutdown.
    connection: 'close',
    // Without this header, nginx would buffer the events.
    'x-accel-buffering': 'no',
  });
  return {
    write(text: string): void {
      if (response.writableEnded) return;
      if (response.writableLength > maxBufferedBytes) response.destroy();
      else response.write(text);
    },
    end: (): void => void response.end(),
  };
}
