import type {
  Guest,
  LinkCode,
  LinkRequest,
  Spend,
  SpendRequest,
  TransferRequest,
  Wallet,
} from '@trueward/protocol/wire';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isGuestRef, type PlayerTokens } from '../../access/player-tokens.ts';
import type { Principal } from '../../access/principal.ts';
import type { Pseudonymize } from '../../decision/decision-service.ts';
import type { WalletOwner } from '../../wallet/spend.ts';
import type { WalletService } from '../../wallet/wallet-service.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { createPlayerUnknown, type IdentifyToken } from '../authentication/identify-player.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  playerTokens: Pick<PlayerTokens, 'create' | 'createDeviceCode' | 'link'>;
  identifyToken: IdentifyToken;
  pseudonym: Pseudonymize;
  wallets: WalletService;
  limiter: RateLimiter;
}

const config = { keys: ['pk'] } as const;
const headers = {
  type: 'object',
  properties: {
    'player-token': {
      type: 'string',
      maxLength: 2_048,
      description: 'The `player_token` of a guest player, or a user token from your server.',
    },
  },
} as const;
const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    nonce: {
      type: 'string',
      maxLength: 64,
      description:
        'Ignored. With a different value per request, no cache between the player and the service answers.',
    },
  },
} as const;

/** Adds the routes with which a game without a server creates players, reads their wallets and spends from them. */
export function addWalletRoutes(app: FastifyInstance, deps: Deps): void {
  const { playerTokens, wallets, limiter } = deps;
  app.post(
    '/v1/players',
    {
      config,
      schema: {
        operationId: 'createGuest',
        summary: 'Create a guest player',
        description: 'For games that have no server and no ids for their players.',
        response: { 201: { description: 'The player.', $ref: 'Guest#' } },
      },
    },
    async (request, reply): Promise<Guest> => {
      limiter.onGuest(request, reply);
      const { playerRef, playerToken } = await playerTokens.create(getPrincipal(request));
      void reply.code(201);
      return { player_ref: playerRef, player_token: playerToken };
    },
  );
  app.post(
    '/v1/players/link-codes',
    {
      config,
      schema: {
        operationId: 'createLinkCode',
        summary: 'Create a code for another device',
        description:
          'With the code, another device becomes the same guest player. It can be used once, for ten minutes. A new code replaces it.',
        headers,
        response: { 201: { description: 'The code.', $ref: 'LinkCode#' } },
      },
    },
    async (request, reply): Promise<LinkCode> => {
      const principal = getPrincipal(request);
      const token = readToken(request);
      const { playerRef } = await proveOwner(deps, principal, token);
      if (!isGuestRef(playerRef))
        throw new ProblemError(
          'player_required',
          'Only guest players need codes: your own players sign in.',
        );
      limiter.onSpend(principal, playerRef, reply);
      const code = await playerTokens.createDeviceCode(principal, playerRef, token);
      if (!code) throw createPlayerUnknown();
      void reply.code(201);
      return code;
    },
  );
  app.post<{ Body: LinkRequest }>(
    '/v1/players/link',
    {
      config,
      schema: {
        operationId: 'linkDevice',
        summary: 'Make this device another device’s player',
        body: { $ref: 'LinkRequest#' },
        response: { 201: { description: 'The player.', $ref: 'Guest#' } },
      },
    },
    async (request, reply): Promise<Guest> => {
      const principal = getPrincipal(request);
      const giveBack = limiter.onLinkCode(principal, request, reply);
      const linked = await playerTokens.link(principal, request.body.code);
      if (!linked)
        throw new ProblemError(
          'link_code_invalid',
          'The code is wrong, was used, or has expired: create a new one on the other device.',
        );
      giveBack();
      void reply.code(201);
      return { player_ref: linked.playerRef, player_token: linked.playerToken };
    },
  );
  app.get(
    '/v1/wallet',
    {
      config,
      schema: {
        operationId: 'readWallet',
        summary: "Read the player's wallet",
        headers,
        querystring,
        response: { 200: { description: 'The wallet.', $ref: 'Wallet#' } },
      },
    },
    async (request): Promise<Wallet> =>
      wallets.read(getPrincipal(request), await findOwner(deps, request)),
  );
  app.post<{ Body: SpendRequest }>(
    '/v1/wallet/spends',
    {
      config,
      schema: {
        operationId: 'spend',
        summary: 'Spend from a balance',
        description:
          'A balance never falls below zero. A retry with the same `id` is charged once and returns the first result, with the `type` and `amount` that were charged, even if it asks for others: the price may have changed since.',
        headers,
        body: { $ref: 'SpendRequest#' },
        response: { 201: { description: 'The spend.', $ref: 'Spend#' } },
      },
    },
    async (request, reply): Promise<Spend> => {
      const principal = getPrincipal(request);
      const owner = await findOwner(deps, request);
      limiter.onSpend(principal, owner.playerRef, reply);
      const result = await wallets.spend(principal, owner, request.body);
      if ('refusal' in result) throw describeRefusal(result, request.body);
      void reply.code(201);
      return result.spend;
    },
  );
}

/** Adds the route with which the wallet of a guest who signs in becomes the player's. */
export function addTransferRoute(app: FastifyInstance, deps: Deps): void {
  app.post<{ Body: TransferRequest }>(
    '/v1/wallet/transfers',
    {
      config,
      schema: {
        operationId: 'transferWallet',
        summary: 'Move a guest’s wallet to the player who has signed in',
        description:
          'Send the player’s user token in the header `Player-Token`. Everything that the guest has is moved in one transaction. A retry is safe: it moves what the guest has been credited with since. A guest’s wallet can be moved to one player only, and a player can receive ten transfers within 30 days.',
        headers,
        body: { $ref: 'TransferRequest#' },
        response: { 200: { description: 'The player’s wallet.', $ref: 'Wallet#' } },
      },
    },
    async (request, reply): Promise<Wallet> => {
      const principal = getPrincipal(request);
      const to = await findOwner(deps, request);
      const from = await proveOwner(deps, principal, request.body.from);
      if (isGuestRef(to.playerRef) || !isGuestRef(from.playerRef))
        throw new ProblemError(
          'identity_required',
          'Only a guest’s wallet can be moved, and only to a player of yours: send a user token in the header `Player-Token`, and the guest’s `player_token` as `from`.',
        );
      deps.limiter.onSpend(principal, to.playerRef, reply);
      const result = await deps.wallets.transfer(principal, from, to);
      if (!('refusal' in result)) return result;
      throw result.refusal === 'too_many'
        ? new ProblemError(
            'rate_limited',
            'This player has received ten transfers within 30 days.',
            {
              retryAfterS: 86_400,
            },
          )
        : new ProblemError(
            'conflict',
            'This guest’s wallet has been moved to another player: nothing was moved.',
          );
    },
  );
}

/** @throws ProblemError when the request doesn't prove who the player is. */
const findOwner = async (deps: Deps, request: FastifyRequest): Promise<WalletOwner> =>
  proveOwner(deps, getPrincipal(request), readToken(request));

/** @throws ProblemError when the request has no token. */
function readToken(request: FastifyRequest): string {
  const token = request.headers['player-token'];
  if (typeof token === 'string') return token;
  throw new ProblemError(
    'player_required',
    'Send the `player_token` of a guest player, or a user token, in the header `Player-Token`.',
  );
}

/** @throws ProblemError when the token proves nobody. */
async function proveOwner(
  { identifyToken, pseudonym }: Deps,
  principal: Principal,
  token: string,
): Promise<WalletOwner> {
  const { userRef: playerRef } = await identifyToken(principal, token);
  return { playerRef, viewer: pseudonym(principal, playerRef) };
}

const describeRefusal = (
  { refusal, balance }: { refusal: 'insufficient_balance'; balance: number },
  { type, amount }: SpendRequest,
): ProblemError =>
  new ProblemError(refusal, `The player has ${balance} ${type}, which is less than ${amount}.`, {
    balance,
  });
