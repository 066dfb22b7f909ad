import type { ServerResponse } from 'node:http';
import type { DecisionRequest, PolicyRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { createInspectDecision, listDecisions } from '../../inspect/inspect-decision.ts';
import { toPage } from '../../resource/resource-store.ts';
import type { Stored } from '../../resource/resource.ts';
import { principalOf } from '../authentication/authenticate.ts';
import { ProblemError } from '../problems/problem.ts';
import { notFound, type PageQuery, pageQuerySchema, toCursor } from '../openapi/route-schemas.ts';
import { type PanelParts, strictBody, text } from './panel-parts.ts';
import type { LiveTail } from '../../inspect/live-tail.ts';
import type { Sessions } from '../../user/sessions.ts';
import { sessionOf } from '../authentication/session-access.ts';

interface Trial {
  request: DecisionRequest;
  device?: 'desktop' | 'mobile' | 'tablet';
  country?: string;
  policy?: PolicyRequest;
  policy_id?: string;
}

/** Nothing is changed by trying, so everybody may. */
const config = { panel: 'environment', role: 'viewer' } as const;

const trialSchema = strictBody(
  {
    request: { $ref: 'DecisionRequest#' },
    device: { type: 'string', enum: ['desktop', 'mobile', 'tablet'] },
    country: { type: 'string', pattern: '^[A-Z]{2}$' },
    policy: { $ref: 'PolicyRequest#' },
    policy_id: text(64),
  },
  ['request'],
);

/** `/panel/api/decisions` and `/panel/api/policies/try`: what was decided, and what would be. */
export function addInspectionRoutes(app: FastifyInstance, parts: PanelParts): void {
  const { database, tryRequest } = parts;
  const inspectDecision = createInspectDecision(parts);
  app.get<{ Querystring: PageQuery }>(
    '/panel/api/decisions',
    { config, schema: { hide: true, querystring: pageQuerySchema } },
    async (request) =>
      toPage(
        await listDecisions(database, principalOf(request), toCursor(request.query)),
        request.query.limit,
      ),
  );
  app.get<{ Params: { id: string } }>(
    '/panel/api/decisions/:id',
    { config, schema: { hide: true } },
    async (request) => {
      const { id } = request.params;
      const found = await inspectDecision(principalOf(request), id);
      if (!found) throw notFound('decision', id);
      return found;
    },
  );
  app.post<{ Body: Trial }>(
    '/panel/api/policies/try',
    { config, schema: { hide: true, body: trialSchema } },
    async (request) => {
      const { policy, policy_id: policyId, ...trial } = request.body;
      const principal = principalOf(request);
      const tried = await tryRequest(principal, {
        ...trial,
        // The schema has put in every default.
        ...(policy ? { policy: policy as Stored<'policy'> } : {}),
        ...(policyId === undefined ? {} : { policyId }),
      });
      if (tried) return tried;
      throw new ProblemError(
        'placement_not_found',
        `There is no placement ${trial.request.placement} in ${principal.environment}.`,
      );
    },
  );
}

interface Parts {
  liveTail: LiveTail;
  users: { sessions: Sessions };
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** Proxies cut a connection on which nothing comes; and the session is looked at as often. */
const heartbeatMs = 15_000;
/** Open pages of one account. */
const mostListeners = 20;
/** Whoever reads more slowly than it comes is cut; the page connects anew. */
const mostWaitingBytes = 1_048_576;

/** `/panel/api/live`: server-sent events of what the sandbox records, until the session ends. */
export function addLiveRoute(app: FastifyInstance, parts: Parts): void {
  const { liveTail, users, stopping } = parts;
  app.get(
    '/panel/api/live',
    // HEAD would never be answered: the stream does not end.
    { config: { panel: 'account' }, schema: { hide: true }, exposeHeadRoute: false },
    async (request, reply) => {
      const { user, text } = sessionOf(request);
      if (liveTail.count(user.accountId) >= mostListeners) {
        throw new ProblemError('rate_limited', 'Too many pages of this account watch already.', {
          retryAfterS: 60,
        });
      }
      reply.hijack();
      const stream = openStream(reply.raw, {
        'request-id': request.id,
        'cache-control': 'no-store',
      });
      const watch = liveTail.listen(user.accountId, ({ event, data }) =>
        stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      );
      const cut = (error: unknown): void => {
        request.log.warn({ err: error }, 'a live tail was cut');
        stream.end();
      };
      // With the first bytes the page says that it listens: from then on it is shown everything.
      watch.ready.then(() => stream.write(': the sandbox, as it happens\n\n'), cut);
      const beat = async (): Promise<void> => {
        if (await users.sessions.find(text, { touch: false })) stream.write(': \n\n');
        else stream.end();
      };
      const timer = setInterval(() => void beat().catch(cut), heartbeatMs);
      stopping.addEventListener('abort', stream.end);
      reply.raw.once('close', () => {
        watch.stop();
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
    // Kept alive after its end, it would hold up a service that stops.
    connection: 'close',
    // nginx would hold the lines back.
    'x-accel-buffering': 'no',
  });
  return {
    write(text: string): void {
      if (response.writableEnded) return;
      if (response.writableLength > mostWaitingBytes) response.destroy();
      else response.write(text);
    },
    end: (): void => void response.end(),
  };
}
