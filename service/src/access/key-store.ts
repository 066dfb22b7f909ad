import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApiKey } from '@trueward/protocol/wire';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import type { AuditLog } from '../store/audit-log.ts';
import type { Database, Queries, Scope } from '../store/database.ts';
import { hashRevision } from '../store/if-match.ts';
import { maxOriginLength } from './key-usage.ts';
import type { Environment, KeyKind, KeyPrincipal } from './principal.ts';

/** The information encoded in a key. */
interface KeyText {
  kind: KeyKind;
  environment: Environment;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const pattern =
  /^(?:sk_(?:sandbox|live)_[0-9A-Za-z]{36}|pk_(?:sandbox|live)_[0-9A-Za-z]{10}_[0-9A-Za-z]{26})$/;
/** Length of the game's id in a publishable key. */
const gameIdLength = 10;
const checksumLength = 6;

/**
 * Computes the checksum at the end of a key. It detects typos without a database lookup.
 *
 * 1. Take the part of the key before the checksum.
 * 2. Compute the CRC-32 (IEEE 802.3, as in zip and PNG) of its ASCII bytes, as an unsigned 32-bit number.
 * 3. Write this number in base 62 with the digits `0-9A-Za-z`, most significant digit first.
 * 4. Pad on the left with `0` to 6 characters.
 */
function keyChecksum(body: string): string {
  let remainder = crc32(body);
  let text = '';
  for (let digit = 0; digit < checksumLength; digit += 1) {
    text = alphabet.charAt(remainder % 62) + text;
    remainder = Math.floor(remainder / 62);
  }
  return text;
}

/** Generates a secret key. Its 30 random characters carry 178 bits of entropy. */
export function makeSecretKeyText(environment: Environment): string {
  return appendChecksum(`sk_${environment}_${randomBase62(30)}`);
}

/**
 * Generates a publishable key. The SDK names the game's storage on players' devices after `gameId`, so the id is kept
 * when the key is rolled, and events and rewards on the devices are not lost.
 */
export function makePublishableKeyText(environment: Environment, gameId: string): string {
  return appendChecksum(`pk_${environment}_${gameId}_${randomBase62(20)}`);
}

const appendChecksum = (body: string): string => body + keyChecksum(body);

/** Generates the id of a game that gets its first publishable key. */
export const makeGameId = (): string => randomBase62(gameIdLength);

/** Parses a key. Returns undefined if the text is not a valid key. */
export function parseKeyText(text: string): KeyText | undefined {
  if (!pattern.test(text)) return undefined;
  const body = text.slice(0, -checksumLength);
  if (keyChecksum(body) !== text.slice(-checksumLength)) return undefined;
  return {
    kind: text.startsWith('sk') ? 'sk' : 'pk',
    environment: text.startsWith('live', 'sk_'.length) ? 'live' : 'sandbox',
  };
}

/**
 * Returns the hash that is stored instead of a key. A slow password hash isn't needed, because secret keys have 178 bits
 * of entropy.
 */
export function hashKey(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // Rejection sampling: bytes of 248 (4 × 62) or more would make the first eight digits more likely (modulo bias).
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62);
    }
  }
  return text;
}

interface NewKey {
  name?: string;
  accountId: string;
  environment: Environment;
  kind: KeyKind;
  /** Origins that may use a publishable key. `*` means any origin. */
  allowedOrigins: string[];
  /** If absent, the service's default key limit applies. */
  rateLimit?: ApiKey['rate_limit'];
  /** The id of the key that the new key replaces. A publishable key then belongs to the same game. */
  replaces?: string;
}

/** Creates a key. Returns its id and the full key. Of a secret key, only a hash is stored. */
export async function createKey(
  queries: Queries,
  clock: Clock,
  makeId: MakeId,
  key: NewKey,
): Promise<{ id: string; text: string }> {
  const gameId = key.kind === 'pk' ? await chooseGameId(queries, key) : undefined;
  const text =
    gameId === undefined
      ? makeSecretKeyText(key.environment)
      : makePublishableKeyText(key.environment, gameId);
  const id = makeId('key');
  await queries.query(
    `INSERT INTO keys (account_id, id, environment, kind, hash, last_four, allowed_origins, rate_limit, created_at, game_id, name, publishable_text)
      VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8::text::jsonb, $9, $10, $11, $12)`,
    [
      key.accountId,
      id,
      key.environment,
      key.kind,
      hashKey(text),
      text.slice(-4),
      JSON.stringify(key.allowedOrigins),
      key.rateLimit === undefined ? null : JSON.stringify(key.rateLimit),
      new Date(clock.nowMs()),
      gameId ?? null,
      key.name ?? null,
      key.kind === 'pk' ? text : null,
    ],
  );
  return { id, text };
}

/** Returns the game of the key that is replaced, or a new id. */
async function chooseGameId(
  queries: Queries,
  { accountId, environment, replaces }: NewKey,
): Promise<string> {
  if (replaces === undefined) return makeGameId();
  const [row] = await queries.query<{ game_id: string | null }>(
    'SELECT game_id FROM keys WHERE account_id = $1 AND environment = $2 AND id = $3',
    [accountId, environment, replaces],
  );
  return row?.game_id ?? makeGameId();
}

interface KeyRow {
  id: string;
  name: string | null;
  publishable_text: string | null;
  environment: Environment;
  kind: KeyKind;
  last_four: string;
  allowed_origins: string[];
  rate_limit: NonNullable<ApiKey['rate_limit']> | null;
  created_at: Date;
  last_used_at: Date | null;
  revoked_at: Date | null;
  leaked_at: Date | null;
  leaked_to: string | null;
}

const columns =
  'id, environment, kind, name, publishable_text, last_four, allowed_origins, rate_limit, created_at, last_used_at, revoked_at, leaked_at, leaked_to';

function toApiKey({ kind, created_at, last_used_at, revoked_at, ...rest }: KeyRow): ApiKey {
  const { leaked_at, leaked_to, name, publishable_text: text, rate_limit, ...row } = rest;
  return {
    ...row,
    kind: kind === 'sk' ? 'secret' : 'publishable',
    created_at: created_at.toISOString(),
    ...(name === null ? {} : { name }),
    ...(text === null ? {} : { key: text }),
    ...(rate_limit === null ? {} : { rate_limit }),
    ...(last_used_at === null ? {} : { last_used_at: last_used_at.toISOString() }),
    ...(revoked_at === null ? {} : { revoked_at: revoked_at.toISOString() }),
    ...(leaked_at === null ? {} : { leaked_at: leaked_at.toISOString() }),
    ...(leaked_to === null ? {} : { leaked_to }),
  };
}

/** Lists the keys of one account and environment, newest first. Returns `limit` + 1 rows if there is another page. */
export async function listKeys(
  queries: Queries,
  scope: Scope,
  { limit, startingAfter }: { limit: number; startingAfter?: string },
): Promise<ApiKey[]> {
  const rows = await queries.query<KeyRow>(
    `SELECT ${columns} FROM keys
      WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR id < $3)
      ORDER BY id DESC LIMIT $4`,
    [scope.accountId, scope.environment, startingAfter ?? null, limit + 1],
  );
  return rows.map(toApiKey);
}

export async function findKeyById(
  queries: Queries,
  scope: Scope,
  id: string,
): Promise<ApiKey | undefined> {
  const [row] = await queries.query<KeyRow>(
    `SELECT ${columns} FROM keys WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [scope.accountId, scope.environment, id],
  );
  return row && toApiKey(row);
}

/** Returns the revision of what an owner sees and changes, which the key's use doesn't change. */
export const revisionOfKey = ({
  name,
  allowed_origins: origins,
  rate_limit: limit,
}: ApiKey): string =>
  hashRevision([name ?? null, origins, limit ? [limit.per_s, limit.burst] : null]);

/** Changes a key's name, allowed origins and rate limit. */
export async function updateKey(
  queries: Queries,
  scope: Scope,
  key: Pick<ApiKey, 'id' | 'name' | 'allowed_origins' | 'rate_limit'>,
): Promise<void> {
  await queries.query(
    `UPDATE keys SET allowed_origins = $4::text::jsonb, rate_limit = $5::text::jsonb, name = $6
      WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [
      scope.accountId,
      scope.environment,
      key.id,
      JSON.stringify(key.allowed_origins),
      key.rate_limit === undefined ? null : JSON.stringify(key.rate_limit),
      key.name ?? null,
    ],
  );
}

/** Revokes a key at the given time. An earlier revocation time stays in effect. */
export async function revokeKey(
  queries: Queries,
  scope: Scope,
  id: string,
  atMs: number,
): Promise<void> {
  await queries.query(
    `UPDATE keys SET revoked_at = least(coalesce(revoked_at, $4), $4)
      WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [scope.accountId, scope.environment, id, new Date(atMs)],
  );
}

/** Whether a key is revoked at this time, or has been deleted since, as the database knows it. */
export async function isKeyRevoked(
  queries: Pick<Queries, 'query'>,
  { accountId, environment, keyId }: Pick<KeyPrincipal, 'accountId' | 'environment' | 'keyId'>,
  nowMs: number,
): Promise<boolean> {
  const active = await queries.query(
    `SELECT 1 FROM keys WHERE account_id = $1 AND environment = $2 AND id = $3
      AND (revoked_at IS NULL OR revoked_at > $4)`,
    [accountId, environment, keyId, new Date(nowMs)],
  );
  return active.length === 0;
}

/** Minimum time between two audit records for the same leaked key. */
const leakIntervalMs = 60_000;

/** Creates a function that records that a secret key was used in a browser. */
export function createLeakRecorder(database: Database, audit: AuditLog, clock: Clock) {
  const recordedAtMs = new Map<string, number>();
  return async (principal: KeyPrincipal, origin: string, requestId: string): Promise<boolean> => {
    const nowMs = clock.nowMs();
    const lastAtMs = recordedAtMs.get(principal.keyId);
    if (lastAtMs !== undefined && nowMs - lastAtMs < leakIntervalMs) return false;
    recordedAtMs.set(principal.keyId, nowMs);
    const { accountId, environment, keyId } = principal;
    const page = origin.slice(0, maxOriginLength);
    await database.query(
      'UPDATE keys SET leaked_at = $3, leaked_to = $4 WHERE account_id = $1 AND id = $2',
      [accountId, keyId, new Date(nowMs), page],
    );
    await audit.record(
      { queries: database, scope: { accountId, environment }, actor: keyId, requestId },
      { action: 'key.used_in_browser', targetId: keyId, after: { origin: page } },
    );
    return true;
  };
}
