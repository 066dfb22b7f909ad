import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { DecisionRequest, Placement } from '@trueward/protocol/wire';
import type { Principal } from '../../access/principal.ts';
import { isGuestRef, isPlayerToken, type PlayerTokens } from '../../access/player-tokens.ts';
import type { ProvenUser, UserTokens } from '../../access/user-tokens.ts';
import { normalizeCountry } from '../../platform/names.ts';
import { ProblemError } from '../problem.ts';

/** A request whose player has been identified. */
export interface IdentifiedRequest {
  request: DecisionRequest;
  /** The formats in which the player sees no ads, as the user token proves. */
  adFree: ProvenUser['adFree'];
}

/**
 * Resolves to the player that a token proves: a user token from the game's server, or the token of a guest player.
 *
 * @throws ProblemError `token_invalid` or `player_unknown`.
 */
export type IdentifyToken = (principal: Principal, token: string) => Promise<ProvenUser>;

export function createIdentifyToken(
  userTokens: Pick<UserTokens, 'verify'>,
  playerTokens: Pick<PlayerTokens, 'find'>,
): IdentifyToken {
  return async (principal, token) => {
    if (isPlayerToken(token)) {
      const playerRef = await playerTokens.find(principal, token);
      if (playerRef !== undefined) return { userRef: playerRef, adFree: [] };
      throw createPlayerUnknown();
    }
    const user = await userTokens.verify(principal, token);
    if (user && !isGuestRef(user.userRef)) return user;
    throw new ProblemError(
      'token_invalid',
      'The user token is not signed with one of this environment’s secrets, has expired, or has a lifetime of more than a day.',
    );
  };
}

/** The problem of a guest whose token is unknown. */
export const createPlayerUnknown = (): ProblemError =>
  new ProblemError(
    'player_unknown',
    'There is no player with this token: it was revoked, or the player was erased. Create a new player.',
  );

/**
 * Identifies the player for whom a decision is requested. Requests from servers are trusted. Clients may be required to
 * send a user token. Returns synchronously if there is no token.
 *
 * @throws ProblemError `identity_required`, `player_required`, `token_invalid`, `player_unknown` or `invalid_request`.
 */
export function identifyPlayer(
  identifyToken: IdentifyToken,
  principal: Principal,
  placement: Placement,
  request: DecisionRequest,
): IdentifiedRequest | Promise<IdentifiedRequest> {
  const { user_token: token } = request;
  if (token === undefined)
    return { request: checkIdentity(principal, placement, request), adFree: [] };
  return verifyUser(identifyToken, principal, request, token).then(({ userRef, adFree }) => ({
    request: checkIdentity(principal, placement, { ...request, user_ref: userRef }),
    adFree,
  }));
}

function checkIdentity(
  principal: Principal,
  placement: Placement,
  request: DecisionRequest,
): DecisionRequest {
  const { identity = 'none', format, reward } = placement;
  const isClient = principal.kind === 'pk';
  const { user_ref: userRef } = request;
  const isProven = principal.kind === 'sk' || request.user_token !== undefined;
  // Games without ids for their players get guests. A placement with a stricter identity is for the game's own players.
  const isForGuests =
    reward?.credit === 'wallet'
      ? identity !== 'server'
      : isClient && format === 'rewarded' && identity === 'none';
  if (userRef === undefined && isForGuests)
    throw new ProblemError(
      'player_required',
      `The ${placement.name} placement requires a player: create a guest player and send its player token.`,
    );
  // A guest's reference is known to others, such as support, so it proves nothing.
  const mustProve = identity === 'user_token' || (userRef !== undefined && isGuestRef(userRef));
  if (isClient && (identity === 'server' || (mustProve && !isProven))) {
    throw new ProblemError(
      'identity_required',
      identity === 'server'
        ? `Only your server can request decisions for the ${placement.name} placement: request them there with a secret key and pass them to the client.`
        : `The ${placement.name} placement or this player requires a user token: have your server sign one with signUserToken, or send a guest’s player token.`,
    );
  }
  if (format === 'rewarded' && userRef === undefined) {
    throw new ProblemError('invalid_request', 'A rewarded ad requires a player id.', {
      errors: [{ pointer: '/user_ref', message: 'is required for a rewarded placement' }],
    });
  }
  return request;
}

async function verifyUser(
  identifyToken: IdentifyToken,
  principal: Principal,
  request: DecisionRequest,
  token: string,
): Promise<ProvenUser> {
  const user = await identifyToken(principal, token);
  if (request.user_ref !== undefined && request.user_ref !== user.userRef) {
    throw new ProblemError(
      'token_invalid',
      'The user token is for a different user than `user_ref`.',
    );
  }
  return user;
}

/** The header in which the upstream load balancer or CDN reports the player's country. */
export interface Country {
  /** Strips the header from requests sent by untrusted peers, which could spoof it. */
  stripUntrusted(request: Pick<IncomingMessage, 'headers' | 'socket'>): void;
  /** Returns the ISO 3166-1 alpha-2 code, or undefined if the country is unknown. */
  read(headers: IncomingHttpHeaders): string | undefined;
}

/** @param header the lowercase header name, such as `cf-ipcountry`; if undefined, countries are unknown */
export function createCountry(
  header: string | undefined,
  trustedProxies: readonly string[] = [],
): Country {
  if (header === undefined) return { stripUntrusted: () => undefined, read: () => undefined };
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return {
    stripUntrusted({ headers, socket }) {
      if (header in headers && !isTrusted(socket.remoteAddress ?? '', 0)) delete headers[header];
    },
    read(headers) {
      const value = headers[header];
      // Some proxies add their header to the client's own. The last one comes from the nearest proxy.
      const last = typeof value === 'string' ? value.split(',').at(-1) : undefined;
      // CDNs send values such as XX and T1 for an unknown country.
      return last === undefined ? undefined : normalizeCountry(last);
    },
  };
}
