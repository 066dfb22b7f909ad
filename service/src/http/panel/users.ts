import type { FastifyInstance } from 'fastify';
import type { Role } from '../../access/principal.ts';
import { toPage } from '../../resource/resource-store.ts';
import { describeUser, findUser, listUsers } from '../../access/user.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { notFound, type PageQuery, pageQuerySchema, toCursor } from '../openapi.ts';
import { readIfMatch, toEntityTag } from '../operations.ts';
import {
  emailSchema,
  type PanelDeps,
  personNameSchema,
  roleSchema,
  strictBody,
} from './panel-deps.ts';

interface IdRequest {
  Params: { id: string };
}

const config = { panel: 'account', role: 'owner' } as const;
const usersConfig = { ...config, power: 'users' } as const;
const invitationConfig = { ...config, power: 'invitations' } as const;
const hiddenSchema = { hide: true } as const;

/** Adds `/panel/api/users`, which manages the panel users. */
export function addUserRoutes(app: FastifyInstance, deps: PanelDeps): void {
  addReads(app, deps);
  addInvitations(app, deps);
  addChanges(app, deps);
}

function addReads(app: FastifyInstance, { database }: PanelDeps): void {
  app.get<{ Querystring: PageQuery }>(
    '/panel/api/users',
    { config, schema: { ...hiddenSchema, querystring: pageQuerySchema('user') } },
    async (request) => {
      const { accountId } = getPrincipal(request);
      const users = await listUsers(database, accountId, toCursor(request.query));
      return toPage(
        users.map((user) => ({ ...describeUser(user), etag: toEntityTag(user.revision) })),
        request.query.limit,
      );
    },
  );
  app.get<IdRequest>(
    '/panel/api/users/:id',
    { config, schema: hiddenSchema },
    async (request, reply) => {
      const { id } = request.params;
      const user = await findUser(database, getPrincipal(request).accountId, id);
      if (!user) throw notFound('user', id);
      return reply.header('etag', toEntityTag(user.revision)).send(describeUser(user));
    },
  );
}

function addInvitations(app: FastifyInstance, { users, runOperation, publicUrl }: PanelDeps): void {
  const inviteUrl = (linkToken: string) => `${publicUrl()}/panel/#/setup?token=${linkToken}`;
  app.post<{ Body: { email: string; name: string; role: Role } }>(
    '/panel/api/users',
    {
      config: invitationConfig,
      schema: {
        ...hiddenSchema,
        body: strictBody({ email: emailSchema, name: personNameSchema, role: roleSchema }, [
          'email',
          'name',
          'role',
        ]),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { user, linkToken } = await users.manager.invite(operation, request.body);
        return {
          status: 201,
          body: { ...describeUser(user), invite_url: inviteUrl(linkToken) },
          shownOnce: 'invite_url',
        };
      }),
  );
  app.post<IdRequest>(
    '/panel/api/users/:id/link',
    { config: invitationConfig, schema: hiddenSchema },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { user, linkToken } = await users.manager.makeLink(operation, request.params.id);
        return {
          status: 201,
          body: { ...describeUser(user), invite_url: inviteUrl(linkToken) },
          shownOnce: 'invite_url',
        };
      }),
  );
}

function addChanges(app: FastifyInstance, { users, runOperation }: PanelDeps): void {
  app.patch<IdRequest & { Body: { name?: string; role?: Role } }>(
    '/panel/api/users/:id',
    {
      config: usersConfig,
      schema: {
        ...hiddenSchema,
        body: strictBody({ name: personNameSchema, role: roleSchema }, []),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { id: request.params.id, ifMatch: readIfMatch(request) };
        const user = await users.manager.update(operation, target, request.body);
        return { status: 200, body: describeUser(user), revision: user.revision };
      }),
  );
  app.delete<IdRequest>(
    '/panel/api/users/:id',
    { config: usersConfig, schema: hiddenSchema },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { id: request.params.id, ifMatch: readIfMatch(request) };
        await users.manager.remove(operation, target);
        return { status: 204 };
      }),
  );
}
