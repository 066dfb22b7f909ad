import type { ApiKeyRequest, ApiKeyUpdate, OverlapRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { findKeyById, listKeys, revisionOfKey } from '../../access/key-store.ts';
import type { KeyManager } from '../../access/key-manager.ts';
import type { UserTokens } from '../../access/user-tokens.ts';
import { toPage } from '../../resource/resource-store.ts';
import type { Database } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  changeHeaders,
  idParams,
  notFound,
  noContent,
  type PageQuery,
  pageQuerySchema,
  pageSchema,
  toCursor,
  writeHeaders,
} from '../openapi.ts';
import { readIfMatch, type RunOperation, toEntityTag } from '../operations.ts';

interface Deps {
  database: Database;
  keyManager: KeyManager;
  runOperation: RunOperation;
}

interface IdRequest {
  Params: { id: string };
}

const config = { keys: ['sk'] } as const;
const ownerConfig = { keys: ['sk'], role: 'owner', power: 'keys' } as const;
const keyResponse = (description: string) => ({ description, $ref: 'ApiKey#' });

/** Adds `/v1/keys`, which manages the environment's keys. A secret key is shown only once, when it is created. */
export function addKeyRoutes(app: FastifyInstance, deps: Deps): void {
  addReads(app, deps);
  addWrites(app, deps);
}

function addReads(app: FastifyInstance, { database }: Deps): void {
  app.get<{ Querystring: PageQuery }>(
    '/v1/keys',
    {
      config,
      schema: {
        operationId: 'listKeys',
        summary: 'List keys, newest first',
        querystring: pageQuerySchema('key'),
        response: { 200: pageSchema('ApiKey') },
      },
    },
    async (request) =>
      toPage(
        await listKeys(database, getPrincipal(request), toCursor(request.query)),
        request.query.limit,
      ),
  );
  app.get<IdRequest>(
    '/v1/keys/:id',
    {
      config,
      schema: {
        operationId: 'readKey',
        summary: 'Read a key',
        params: idParams('key'),
        response: { 200: keyResponse('The key.') },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const key = await findKeyById(database, getPrincipal(request), id);
      if (!key) throw notFound('key', id);
      return reply.header('etag', toEntityTag(revisionOfKey(key))).send(key);
    },
  );
}

function addWrites(app: FastifyInstance, { keyManager, runOperation }: Deps): void {
  const headers = writeHeaders;
  const params = idParams('key');
  app.post<{ Body: ApiKeyRequest }>(
    '/v1/keys',
    {
      config: ownerConfig,
      schema: {
        operationId: 'createKey',
        summary: 'Create a key',
        description: 'The response contains the full key. A secret key is shown only once.',
        headers,
        body: { $ref: 'ApiKeyRequest#' },
        response: { 201: keyResponse('The key.') },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => ({
        status: 201,
        body: await keyManager.create(operation, request.body),
        shownOnce: 'key',
      })),
  );
  app.patch<IdRequest & { Body: ApiKeyUpdate }>(
    '/v1/keys/:id',
    {
      config: ownerConfig,
      schema: {
        operationId: 'updateKey',
        summary: "Change a key's name, allowed origins and rate limit",
        params,
        headers: changeHeaders,
        body: { $ref: 'ApiKeyUpdate#' },
        response: { 200: keyResponse('The key.') },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { id: request.params.id, ifMatch: readIfMatch(request) };
        const body = await keyManager.update(operation, target, request.body);
        return { status: 200, body, revision: revisionOfKey(body) };
      }),
  );
  app.post<IdRequest & { Body: OverlapRequest }>(
    '/v1/keys/:id/roll',
    {
      config: ownerConfig,
      schema: {
        operationId: 'rollKey',
        summary: 'Replace a key',
        description: 'The response contains the full new key. A secret key is shown only once.',
        params,
        headers,
        body: { $ref: 'OverlapRequest#' },
        response: { 201: keyResponse('The new key.') },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { id } = request.params;
        const { overlap_s: overlapS } = request.body;
        const body = await keyManager.roll(operation, id, overlapS);
        return { status: 201, body, shownOnce: 'key' };
      }),
  );
  app.delete<IdRequest>(
    '/v1/keys/:id',
    {
      config: ownerConfig,
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key immediately',
        params,
        headers,
        response: noContent('The key is revoked.'),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        await keyManager.revoke(operation, request.params.id);
        return { status: 204 };
      }),
  );
}

/** Adds `POST /v1/user_token_secrets`, which creates a secret with which the customer's server signs user tokens. */
export function addUserTokenRoutes(
  app: FastifyInstance,
  { userTokens, runOperation }: { userTokens: UserTokens; runOperation: RunOperation },
): void {
  app.post<{ Body: { overlap_s: number } }>(
    '/v1/user_token_secrets',
    {
      config: { keys: ['sk'], role: 'owner', power: 'user_token_secrets' },
      schema: {
        operationId: 'createUserTokenSecret',
        summary: 'Create a secret for user tokens',
        headers: writeHeaders,
        body: { $ref: 'UserTokenSecretRequest#' },
        response: {
          201: { description: 'The secret, which is shown only once.', $ref: 'UserTokenSecret#' },
        },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => ({
        status: 201,
        body: {
          secret: await userTokens.createSecret(operation, request.body.overlap_s),
          environment: operation.scope.environment,
        },
        shownOnce: 'secret',
      })),
  );
}
