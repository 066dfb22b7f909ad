import { BoundedMap } from '../platform/bounded-map.ts';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MakeId } from '../platform/ids.ts';
import type { Device, LinkCode } from '@trueward/protocol/wire';
import { type Clock, formatInstant } from '../platform/time.ts';
import type { Database, Queries, Scope } from '../store/database.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import { createMac } from './secret-box.ts';
import { hashToken } from './sessions.ts';

/** Creates guest players, and identifies them by their tokens. */
export interface PlayerTokens {
  /** Creates a guest player. */
  create(scope: Scope): Promise<NewToken>;
  /** Resolves to the player's reference, or to undefined if the service doesn't know the token. */
  find(scope: Scope, token: string): Promise<string | undefined>;
  /** Makes a code with which another device becomes the same player. It replaces an earlier one. */
  createLinkCode(queries: Queries, scope: Scope, playerRef: string): Promise<LinkCode>;
  /**
   * Makes a code for a device. Resolves to undefined if its token was revoked: what is remembered of a token for a few
   * seconds must not let a revoked device in again.
   */
  createDeviceCode(scope: Scope, playerRef: string, token: string): Promise<LinkCode | undefined>;
  /** Uses a code. Resolves to undefined if it is wrong, used or expired. */
  link(scope: Scope, code: string): Promise<NewToken | undefined>;
  /** Returns the player's devices. */
  listDevices(queries: Queries, scope: Scope, playerRef: string): Promise<Device[]>;
  /** Revokes the tokens of all of the player's devices. Returns their number. */
  revoke(queries: Queries, scope: Scope, playerRef: string): Promise<number>;
}

interface NewToken {
  playerRef: string;
  playerToken: string;
}

interface Deps {
  database: Database;
  clock: Clock;
  makeId: MakeId;
  /** The service's secret for these tokens. */
  tokenSecret: string;
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

/**
 * Makes and recognizes tokens. Like in a JWT, a token's second part names the player. The third part proves it, with 256
 * random bits. The fourth shows that the service made the token for this account and environment, so that an invented
 * token costs no lookup.
 */
function createTokenForm(secret: string) {
  const mac = createMac(secret);
  const seal = ({ accountId, environment }: Scope, text: string): string =>
    mac(`${accountId} ${environment} ${text}`);
  return {
    make(scope: Scope, playerRef: string): string {
      const subject = Buffer.from(JSON.stringify({ sub: playerRef })).toString('base64url');
      const text = `ply.${subject}.${randomBytes(32).toString('base64url')}`;
      return `${text}.${seal(scope, text)}`;
    },
    isOurs(scope: Scope, token: string): boolean {
      const end = token.lastIndexOf('.');
      const [given, expected] = [token.slice(end + 1), seal(scope, token.slice(0, end))];
      return (
        given.length === expected.length &&
        timingSafeEqual(Buffer.from(given), Buffer.from(expected))
      );
    },
  };
}

/** How long a code can be used. */
const linkCodeMs = 600_000;
/** Crockford's base 32, which has no letters that look like others. */
const codeLetters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Makes a code of 40 random bits. Wrong guesses are limited per IP and per account. */
const makeLinkCode = (): string =>
  Array.from(randomBytes(8), (byte) => codeLetters[byte % 32]).join('');

/** Returns a code as it was made, however a person has written it. */
const normalizeLinkCode = (text: string): string =>
  text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');

const hashLinkCode = ({ accountId, environment }: Scope, code: string): string =>
  hashToken(`${accountId} ${environment} ${code}`);

export function createPlayerTokens(deps: Deps): PlayerTokens {
  const { database, clock, makeId, pseudonym } = deps;
  const form = createTokenForm(deps.tokenSecret);
  const cache = new BoundedMap<string, { playerRef: string; endsAtMs: number }>(maxCached);
  const remember = (name: string, playerRef: string): string => {
    cache.set(name, { playerRef, endsAtMs: clock.monotonicMs() + cacheMs });
    return playerRef;
  };
  /** Adds a device. */
  const addToken = async (queries: Queries, scope: Scope, playerRef: string): Promise<NewToken> => {
    const playerToken = form.make(scope, playerRef);
    await queries.query(
      `INSERT INTO player_tokens (account_id, environment, hash, player_ref, viewer, created_at, used_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6)`,
      [
        scope.accountId,
        scope.environment,
        hashToken(playerToken),
        playerRef,
        pseudonym(scope, playerRef),
        new Date(clock.nowMs()),
      ],
    );
    return { playerRef, playerToken };
  };
  /** Codes and devices change while their player is locked, so that a revocation misses none. */
  const lock = (queries: Queries, scope: Scope, viewer: string): Promise<void> =>
    lockViewers(queries, scope, [viewer], clock.nowMs());
  const tokens: PlayerTokens = {
    create: (scope) => addToken(database, scope, makeId('player')),
    async createLinkCode(queries, scope, playerRef) {
      const code = makeLinkCode();
      const expiresAtMs = clock.nowMs() + linkCodeMs;
      await queries.query(
        `INSERT INTO link_codes (account_id, environment, viewer, player_ref, hash, expires_at)
          VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, environment, viewer)
          DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`,
        [
          scope.accountId,
          scope.environment,
          pseudonym(scope, playerRef),
          playerRef,
          hashLinkCode(scope, code),
          new Date(expiresAtMs),
        ],
      );
      return {
        code: `${code.slice(0, 4)}-${code.slice(4)}`,
        expires_at: formatInstant(expiresAtMs),
      };
    },
    createDeviceCode: (scope, playerRef, token) =>
      database.transaction(async (queries) => {
        await lock(queries, scope, pseudonym(scope, playerRef));
        const known = await queries.query(
          'SELECT 1 FROM player_tokens WHERE account_id = $1 AND environment = $2 AND hash = $3',
          [scope.accountId, scope.environment, hashToken(token)],
        );
        return known.length === 0 ? undefined : tokens.createLinkCode(queries, scope, playerRef);
      }),
    link: (scope, code) =>
      database.transaction(async (queries) => {
        const where = 'account_id = $1 AND environment = $2 AND hash = $3 AND expires_at > $4';
        const params = [
          scope.accountId,
          scope.environment,
          hashLinkCode(scope, normalizeLinkCode(code)),
          new Date(clock.nowMs()),
        ];
        const [found] = await queries.query<{ viewer: string }>(
          `SELECT viewer FROM link_codes WHERE ${where}`,
          params,
        );
        if (!found) return undefined;
        await lock(queries, scope, found.viewer);
        const [used] = await queries.query<{ playerRef: string }>(
          `DELETE FROM link_codes WHERE ${where} RETURNING player_ref AS "playerRef"`,
          params,
        );
        return used && addToken(queries, scope, used.playerRef);
      }),
    async listDevices(queries, scope, playerRef) {
      const rows = await queries.query<{ createdAt: Date; usedAt: Date }>(
        `SELECT created_at AS "createdAt", used_at AS "usedAt" FROM player_tokens
          WHERE account_id = $1 AND environment = $2 AND viewer = $3 ORDER BY created_at LIMIT 100`,
        [scope.accountId, scope.environment, pseudonym(scope, playerRef)],
      );
      return rows.map(({ createdAt, usedAt }) => ({
        linked_at: createdAt.toISOString(),
        used_at: usedAt.toISOString(),
      }));
    },
    async revoke(queries, scope, playerRef) {
      const viewer = pseudonym(scope, playerRef);
      await lock(queries, scope, viewer);
      const params = [scope.accountId, scope.environment, viewer];
      const where = 'account_id = $1 AND environment = $2 AND viewer = $3';
      await queries.query(`DELETE FROM link_codes WHERE ${where}`, params);
      const rows = await queries.query(
        `DELETE FROM player_tokens WHERE ${where} RETURNING viewer`,
        params,
      );
      cache.clear();
      return rows.length;
    },
    async find(scope, token) {
      if (!form.isOurs(scope, token)) return undefined;
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
  return tokens;
}
