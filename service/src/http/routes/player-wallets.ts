import type {
  Device,
  GrantRequest,
  LinkCode,
  PlayerWallet,
  WalletEntry,
} from '@trueward/protocol/wire';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isGuestRef, type PlayerTokens } from '../../access/player-tokens.ts';
import type { Pseudonymize } from '../../decision/decision-service.ts';
import { throwFieldErrors } from '../../platform/domain-error.ts';
import type { MakeId } from '../../platform/ids.ts';
import type { Clock } from '../../platform/time.ts';
import type { AuditLog } from '../../store/audit-log.ts';
import type { Database, Queries, Scope } from '../../store/database.ts';
import { takeFromBudget } from '../../wallet/grant-budgets.ts';
import { listEntries } from '../../wallet/list-entries.ts';
import type { WalletOwner } from '../../wallet/spend.ts';
import type { WalletService } from '../../wallet/wallet-service.ts';
import { readHoldings } from '../../wallet/wallet-store.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  noContent,
  pageQuerySchema,
  pageSchema,
  type PageQuery,
  writeHeaders,
} from '../openapi.ts';
import type { RunOperation } from '../operations.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  database: Database;
  clock: Clock;
  pseudonym: Pseudonymize;
  playerTokens: PlayerTokens;
  wallets: WalletService;
  audit: AuditLog;
  makeId: MakeId;
  runOperation: RunOperation;
}

interface PlayerRequest {
  Params: { player_ref: string };
}

const readConfig = { keys: ['sk'], role: 'operator' } as const;
const grantConfig = { keys: ['sk'], role: 'operator', power: 'grants' } as const;
const params = {
  type: 'object',
  required: ['player_ref'],
  properties: { player_ref: { type: 'string', pattern: '^[\\x20-\\x7e]{1,128}$' } },
};

/** Adds the routes with which support looks into a player's wallet, and makes good for mistakes. */
export function addPlayerWalletRoutes(app: FastifyInstance, deps: Deps): void {
  const { database, clock, pseudonym, playerTokens, wallets, audit, makeId, runOperation } = deps;
  const toOwner = (request: FastifyRequest<PlayerRequest>): WalletOwner => {
    const { player_ref: playerRef } = request.params;
    return { playerRef, viewer: pseudonym(getPrincipal(request), playerRef) };
  };
  /** @throws ProblemError when the player has neither a wallet nor a device. Resolves to the devices. */
  const requirePlayer = async (
    queries: Queries,
    scope: Scope,
    { playerRef, viewer }: WalletOwner,
  ): Promise<Device[]> => {
    const holdings = await readHoldings(queries, scope, [viewer]);
    const devices = await playerTokens.listDevices(queries, scope, playerRef);
    if (holdings.length > 0 || devices.length > 0) return devices;
    throw new ProblemError(
      'not_found',
      `There is no player ${playerRef} with a wallet or a device in this environment.`,
    );
  };
  app.get<PlayerRequest>(
    '/v1/wallets/:player_ref',
    {
      config: readConfig,
      schema: {
        operationId: 'readPlayerWallet',
        summary: "Read a player's wallet and devices",
        params,
        response: { 200: { description: 'The wallet.', $ref: 'PlayerWallet#' } },
      },
    },
    async (request): Promise<PlayerWallet> => {
      const principal = getPrincipal(request);
      const owner = toOwner(request);
      const devices = await requirePlayer(database, principal, owner);
      const wallet = await wallets.read(principal, owner);
      return { ...wallet, devices };
    },
  );
  app.get<PlayerRequest & { Querystring: PageQuery }>(
    '/v1/wallets/:player_ref/entries',
    {
      config: readConfig,
      schema: {
        operationId: 'listWalletEntries',
        summary: "List the changes to a player's wallet, newest first",
        params,
        querystring: pageQuerySchema('version'),
        response: { 200: pageSchema('WalletEntry') },
      },
    },
    async (request): Promise<{ data: WalletEntry[]; has_more: boolean; next_cursor?: string }> => {
      const { limit, starting_after: after = String(Number.MAX_SAFE_INTEGER) } = request.query;
      // The schema admits 16 digits, which the database's integers can hold, exact or not.
      const before = Math.min(Number(after), Number.MAX_SAFE_INTEGER);
      const { viewer } = toOwner(request);
      const rows = await listEntries(database, getPrincipal(request), viewer, { limit, before });
      const data = rows.slice(0, limit);
      const last = data.at(-1);
      return rows.length > limit && last
        ? { data, has_more: true, next_cursor: String(last.version) }
        : { data, has_more: false };
    },
  );
  app.post<PlayerRequest & { Body: GrantRequest }>(
    '/v1/wallets/:player_ref/grants',
    {
      config: grantConfig,
      schema: {
        operationId: 'grant',
        summary: 'Give a player something, to make good for a mistake',
        description:
          'Recorded in the audit log. In the panel, limited by the daily budget of the type. What the wallet can’t hold is refused. Send an `Idempotency-Key`, so that a retry gives nothing more.',
        params,
        headers: writeHeaders,
        body: { $ref: 'GrantRequest#' },
        response: { 201: { description: 'The entry.', $ref: 'WalletEntry#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { type, amount, duration_s: durationS, reason } = request.body;
        throwFieldErrors(
          (amount === undefined) === (durationS === undefined)
            ? [{ pointer: '/amount', message: 'is required, or `duration_s`, but not both' }]
            : [],
        );
        const owner = toOwner(request);
        const id = makeId('grant');
        const grant = { id, type, amount, durationS, reason };
        // A secret key could also change what ads earn.
        if (getPrincipal(request).kind === 'session') {
          const part = { type, amount: amount ?? 0, durationS: durationS ?? 0 };
          await takeFromBudget(operation.queries, operation.scope, part, clock.nowMs());
        }
        const body = await wallets.grant(operation.queries, operation.scope, owner, grant);
        // Like all records, this one must not name the player.
        const after = { type, amount, duration_s: durationS, reason, entry_id: id };
        await audit.record(operation, { action: 'wallet.granted', targetId: owner.viewer, after });
        return { status: 201, body };
      }),
  );
  app.post<PlayerRequest>(
    '/v1/wallets/:player_ref/link-codes',
    {
      config: grantConfig,
      schema: {
        operationId: 'createLinkCodeForPlayer',
        summary: 'Create a code for a guest player’s new device',
        description:
          'For a player who has lost the device. Make sure that it is the player who asks.',
        params,
        headers: writeHeaders,
        response: { 201: { description: 'The code.', $ref: 'LinkCode#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const owner = toOwner(request);
        const { playerRef, viewer } = owner;
        if (!isGuestRef(playerRef))
          throw new ProblemError('not_found', 'Only guest players, `ply_…`, need codes.');
        const { queries, scope } = operation;
        // A mistyped reference would give the player a new, empty wallet.
        await requirePlayer(queries, scope, owner);
        const body: LinkCode = await playerTokens.createLinkCode(queries, scope, playerRef);
        await audit.record(operation, { action: 'player.link_code_created', targetId: viewer });
        return { status: 201, body, shownOnce: 'code' };
      }),
  );
  app.delete<PlayerRequest>(
    '/v1/wallets/:player_ref/devices',
    {
      config: grantConfig,
      schema: {
        operationId: 'revokeDevices',
        summary: 'Sign a guest player out of all devices',
        description:
          'For a stolen token. The wallet stays: create a code for the player’s device. Other processes notice within five seconds.',
        params,
        headers: writeHeaders,
        response: noContent('The devices are signed out.'),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { playerRef, viewer } = toOwner(request);
        const { queries, scope } = operation;
        const devices = await playerTokens.revoke(queries, scope, playerRef);
        const after = { revoked: devices };
        await audit.record(operation, {
          action: 'player.devices_revoked',
          targetId: viewer,
          after,
        });
        return { status: 204 };
      }),
  );
}
