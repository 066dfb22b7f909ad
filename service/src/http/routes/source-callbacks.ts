import type { EventResult, SourceCallbackRequest } from '@trueward/protocol/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from '../../decision/configuration.ts';
import type { SourceCallbacks } from '../../resource/source-callbacks.ts';
import type { ConfirmView } from '../../reward/confirm-view.ts';
import {
  findDecisionId,
  hasTooManyParameters,
  isAuthentic,
  type NetworkCall,
} from '../../reward/network-call.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { changeHeaders, idParams, noContent } from '../openapi.ts';
import { readIfMatch, type RunOperation } from '../operations.ts';
import { ProblemError } from '../problem.ts';
import { findUnstorableText } from '../request-bodies.ts';

interface IdRequest {
  Params: { id: string };
}

interface ManageDeps {
  sourceCallbacks: SourceCallbacks;
  runOperation: RunOperation;
  publicUrl(): string;
}

const path = '/v1/source-callbacks';
const params = idParams('source');

/** Adds the routes with which an operator lets an ad network confirm views. */
export function addSourceCallbackSettings(
  app: FastifyInstance,
  { sourceCallbacks, runOperation, publicUrl }: ManageDeps,
): void {
  const config = { keys: ['sk'], role: 'owner', power: 'source_callbacks' } as const;
  app.post<IdRequest & { Body: SourceCallbackRequest }>(
    '/v1/sources/:id/callback',
    {
      config,
      schema: {
        operationId: 'setSourceCallback',
        summary: 'Let an ad network confirm the views of a source',
        description:
          'Only for `page` sources. From then on, rewards of the source wait until the network’s server has called the URL in the response.',
        params,
        headers: changeHeaders,
        body: { $ref: 'SourceCallbackRequest#' },
        response: {
          200: { description: 'What to enter at the network.', $ref: 'SourceCallbackSecret#' },
        },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { id } = request.params;
        const target = { id, ifMatch: readIfMatch(request) };
        const { secret: given, ...callback } = request.body;
        const secret = await sourceCallbacks.set(operation, target, callback, given);
        const url = `${publicUrl()}${path}/${id}`;
        return { status: 200, body: { url, secret }, shownOnce: 'secret' };
      }),
  );
  app.delete<IdRequest>(
    '/v1/sources/:id/callback',
    {
      config,
      schema: {
        operationId: 'removeSourceCallback',
        summary: 'Stop an ad network from confirming views',
        params,
        headers: changeHeaders,
        response: noContent('The source’s views are no longer confirmed.'),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { id: request.params.id, ifMatch: readIfMatch(request) };
        await sourceCallbacks.remove(operation, target);
        return { status: 204 };
      }),
  );
}

interface CallDeps {
  configuration: Pick<Configuration, 'findCallbackSource' | 'isComplete'>;
  sourceCallbacks: Pick<SourceCallbacks, 'readSecret'>;
  confirmView: ConfirmView;
  limiter: Pick<RateLimiter, 'onKey' | 'onUnauthenticated'>;
}

/** Networks send about a dozen short parameters. */
const bodyLimit = 16 * 1024;

/** Adds `/v1/source-callbacks/{id}`, which the servers of ad networks call after a view. */
export async function addSourceCallbacks(app: FastifyInstance, deps: CallDeps): Promise<void> {
  // A scope of its own, because the signature covers the body as it was sent.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    for (const method of ['GET', 'POST'] as const)
      scope.route<IdRequest>({
        method,
        url: `${path}/:id`,
        bodyLimit,
        exposeHeadRoute: false,
        schema: {
          operationId: method === 'GET' ? 'confirmViewByGet' : 'confirmView',
          summary: 'Confirm a view, as an ad network',
          description:
            'For an ad network’s server, after a completed view. It proves who it is with the secret of the source’s callback: as the parameter `key`, or by signing the request. Parameters are read from the query string, and from a form or a JSON object in the body. The answer is 200 as soon as another attempt would change nothing.',
          params,
          response: { 200: { description: 'What came of it.', $ref: 'EventResult#' } },
        },
        handler: (request, reply) => confirm(deps, request, reply),
      });
  });
}

async function confirm(
  { configuration, sourceCallbacks, confirmView, limiter }: CallDeps,
  request: FastifyRequest<IdRequest>,
  reply: FastifyReply,
): Promise<EventResult> {
  const refuse = (error: Error): never => {
    limiter.onUnauthenticated(request, reply);
    throw error;
  };
  const call = toNetworkCall(request);
  if (hasTooManyParameters(call))
    return refuse(
      new ProblemError('invalid_request', 'The query string has more than 100 parameters.'),
    );
  const found = configuration.findCallbackSource(request.params.id);
  if (!found && !configuration.isComplete())
    throw new ProblemError('unavailable', 'The sources could not be read from the database.', {
      retryAfterS: 5,
    });
  if (!found)
    return refuse(new ProblemError('not_found', 'There is no source with this id and a callback.'));
  const { scope, source } = found;
  const { callback } = source;
  // A secret that can't be read, for example with another master key, is not remembered, so each call costs a statement.
  const secret = await sourceCallbacks.readSecret(scope.accountId, source).catch(refuse);
  if (!isAuthentic(call, callback, secret))
    return refuse(new ProblemError('authentication_required', describeProof(callback)));
  // The network's calls count like those of a secret key.
  limiter.onKey({ ...scope, kind: 'sk', keyId: source.id, allowedOrigins: [] }, request, reply);
  const decision = findDecisionId(call, callback);
  if ('received' in decision) {
    const received = decision.received.join(', ').slice(0, 200) || 'no parameters';
    throw new ProblemError(
      'invalid_request',
      `The parameter ${callback.decision_parameter} with the decision’s id is missing. Received: ${received}.`,
    );
  }
  // The body's text has not passed the check of JSON bodies.
  if (findUnstorableText(decision.id) !== undefined)
    throw new ProblemError(
      'invalid_request',
      `The parameter ${callback.decision_parameter} contains a character that is not allowed in text.`,
    );
  return confirmView(scope, source.id, decision.id);
}

const describeProof = ({ signature_header: header }: { signature_header?: string }): string =>
  header === undefined
    ? 'The parameter `key` must be the secret of the source’s callback.'
    : `The header ${header} must be the HMAC-SHA256 in hexadecimal of the body, or of the query string with its ` +
      'parameters in alphabetical order, by the secret of the source’s callback.';

function toNetworkCall({ body, headers, raw }: FastifyRequest<IdRequest>): NetworkCall {
  const { url = '' } = raw;
  const at = url.indexOf('?');
  return {
    query: at < 0 ? '' : url.slice(at + 1),
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    contentType: headers['content-type'] ?? '',
    header(name) {
      const value = headers[name.toLowerCase()];
      return typeof value === 'string' ? value : undefined;
    },
  };
}
