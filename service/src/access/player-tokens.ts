import { randomBytes } from 'node:crypto';
import type { MakeId } from '../platform/ids.ts';
import type { Clock } from '../platform/time.ts';
import type { Database, Scope } from '../store/database.ts';
import { hashToken } from './sessions.ts';

/** Creates guest players, and identifies them by their tokens. */
export interface PlayerTokens {
  /** Creates a guest player. */
  create(scope: Scope): Promise<{ playerRef: string; playerToken: string }>;
  /** Resolves to the player's reference, or to undefined if the service doesn't know the token. */
  find(scope: Scope, token: string): Promise<string | undefined>;
}

interface Deps {
  database: Database;
  clock: Clock;
  makeId: MakeId;
  /** Returns the player's pseudonym. */
  pseudonym(scope: Scope, playerRef: string): string;
}

/** How long a token is remembered. After this time, a revoked token is refused by every process. */
const cacheMs = 5_000;
/** Maximum number of remembered tokens. */
const maxCached = 10_000;
/** How often the time of a token's last use is stored. */
const touchIntervalMs = 86_400_000;

/** The references of guest players. Only a token may claim one of them. */
export const isGuestRef = (userRef: string): boolean => userRef.startsWith('ply_');

/** Whether a token has the form of a guest's token. A user token is a JWT, which begins with an encoded object. */
export const isPlayerToken = (token: string): boolean => token.startsWith('ply.');

/** Makes a token: like in a JWT, its second part names the player. The third part proves it, with 256 random bits. */
const makeToken = (playerRef: string): string =>
  [
    'ply',
    Buffer.from(JSON.stringify({ sub: playerRef })).toString('base64url'),
    randomBytes(32).toString('base64url'),
  ].join('.');

export function createPlayerTokens({ database, clock, makeId, pseudonym }: Deps): PlayerTokens {
  const cache = new Map<string, { playerRef: string; endsAtMs: number }>();
  const remember = (name: string, playerRef: string): string => {
    cache.delete(name);
    const [oldest] = cache.keys();
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
    cache.set(name, { playerRef, endsAtMs: clock.monotonicMs() + cacheMs });
    return playerRef;
  };
  return {
    async create(scope) {
      const playerRef = makeId('player');
      const playerToken = makeToken(playerRef);
      const { accountId, environment } = scope;
      await database.query(
        `INSERT INTO player_tokens (account_id, environment, hash, player_ref, viewer, created_at, used_at)
          VALUES ($1, $2, $3, $4, $5, $6, $6)`,
        [
          accountId,
          environment,
          hashToken(playerToken),
          playerRef,
          pseudonym(scope, playerRef),
          new Date(clock.nowMs()),
        ],
      );
      return { playerRef, playerToken };
    },
    async find(scope, token) {
      const row = [scope.accountId, scope.environment, hashToken(token)];
      const name = row.join(' ');
      const cached = cache.get(name);
      if (cached && clock.monotonicMs() < cached.endsAtMs) return cached.playerRef;
      const [known] = await database.query<{ playerRef: string; usedAt: Date }>(
        `SELECT player_ref AS "playerRef", used_at AS "usedAt" FROM player_tokens
          WHERE account_id = $1 AND environment = $2 AND hash = $3`,
        row,
      );
      if (!known) return undefined;
      const nowMs = clock.nowMs();
      if (nowMs - known.usedAt.getTime() > touchIntervalMs)
        await database.query(
          `UPDATE player_tokens SET used_at = $4 WHERE account_id = $1 AND environment = $2 AND hash = $3
            AND used_at < $4`,
          [...row, new Date(nowMs)],
        );
      return remember(name, known.playerRef);
    },
  };
}
