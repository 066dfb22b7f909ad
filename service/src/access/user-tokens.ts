import { BoundedMap } from '../platform/bounded-map.ts';
import { randomBytes } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { Clock } from '../platform/time.ts';
import type { AuditLog, Operation } from '../store/audit-log.ts';
import type { Scope, Database } from '../store/database.ts';
import type { Quotas } from '../store/quotas.ts';
import type { SecretBox } from './secret-box.ts';

const purpose = 'user_token';
/** Maximum lifetime of a token. An older token wouldn't prove who is playing now. */
const maxLifetimeS = 86_400;
const clockToleranceS = 60;

/** Verifies user tokens, and manages the secrets with which customers' servers sign them. */
export interface UserTokens {
  /** Creates a secret and returns it. Older secrets stay valid for `overlapS` seconds. */
  createSecret(operation: Operation, overlapS: number): Promise<string>;
  /** Resolves to what a valid token proves, or to undefined if the token is invalid or expired. */
  verify(scope: Scope, token: string): Promise<ProvenUser | undefined>;
}

/** What a user token proves. */
export interface ProvenUser {
  userRef: string;
  /** The formats in which the player sees no ads. */
  adFree: readonly AdFormat[];
}

const adFormats = ['rewarded', 'interstitial', 'banner'] as const;
type AdFormat = (typeof adFormats)[number];

/** Rewarded ads stay unless the token names them, because players choose to watch them. */
const defaultAdFree = ['interstitial', 'banner'] as const;

interface Deps {
  database: Database;
  box: SecretBox;
  clock: Clock;
  audit: AuditLog;
  quotas: Quotas;
}

/** How long an environment's secrets are cached. Otherwise, each invented token would cost a statement. */
const cacheMs = 1_000;
/** Maximum number of environments whose secrets are cached. */
const maxCached = 10_000;

export function createUserTokens({ database, box, clock, audit, quotas }: Deps): UserTokens {
  const cache = new BoundedMap<string, { secrets: Promise<string[]>; endsAtMs: number }>(maxCached);
  const readSecrets = async ({ accountId, environment }: Scope): Promise<string[]> => {
    const rows = await database.query<{ sealed: string }>(
      `SELECT sealed FROM secrets WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3)
          AND (expires_at IS NULL OR expires_at > $4)`,
      [accountId, purpose, `${environment}/`, new Date(clock.nowMs())],
    );
    return rows.map(({ sealed }) => box.open(sealed));
  };
  const findSecrets = (scope: Scope): Promise<string[]> => {
    const name = `${scope.accountId} ${scope.environment}`;
    const nowMs = clock.monotonicMs();
    const cached = cache.get(name);
    if (cached && nowMs < cached.endsAtMs) return cached.secrets;
    const secrets = readSecrets(scope);
    cache.set(name, { secrets, endsAtMs: nowMs + cacheMs });
    secrets.catch(() => cache.delete(name));
    return secrets;
  };
  return {
    async createSecret(operation, overlapS) {
      const { queries, scope } = operation;
      const { accountId, environment } = scope;
      const secret = `utk_${environment}_${randomBytes(32).toString('base64url')}`;
      const nowMs = clock.nowMs();
      const id = `${environment}/${randomBytes(8).toString('hex')}`;
      await queries.query(
        `UPDATE secrets SET expires_at = $4 WHERE account_id = $1 AND purpose = $2
            AND starts_with(id, $3) AND (expires_at IS NULL OR expires_at > $4)`,
        [accountId, purpose, `${environment}/`, new Date(nowMs + overlapS * 1_000)],
      );
      await queries.query(
        'DELETE FROM secrets WHERE account_id = $1 AND purpose = $2 AND expires_at <= $3',
        [accountId, purpose, new Date(nowMs)],
      );
      await quotas.check(queries, accountId, 'user_token_secrets');
      await queries.query(
        'INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, $3, $4, $5)',
        [accountId, purpose, id, box.seal(secret), new Date(nowMs)],
      );
      const entry = {
        action: 'user_token_secret.created',
        targetId: id,
        after: { overlap_s: overlapS },
      };
      await audit.record(operation, entry);
      // The secret is read again after the commit. Until then, the cache may be filled with the old ones, for a second.
      cache.delete(`${accountId} ${environment}`);
      return secret;
    },
    async verify(scope, token) {
      const now = new Date(clock.nowMs());
      for (const secret of await findSecrets(scope)) {
        const user = await readToken(token, secret, now);
        if (user) return user;
      }
      return undefined;
    },
  };
}

async function readToken(
  token: string,
  secret: string,
  now: Date,
): Promise<ProvenUser | undefined> {
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ['HS256'],
      currentDate: now,
      clockTolerance: clockToleranceS,
      requiredClaims: ['sub', 'exp'],
    });
    const lifetimeS = (payload.exp ?? Infinity) - now.getTime() / 1_000;
    // JSON may contain any type here, although the library's types say otherwise.
    const sub: unknown = payload.sub;
    const isValid =
      lifetimeS <= maxLifetimeS + clockToleranceS &&
      typeof sub === 'string' &&
      /^[\x20-\x7e]{1,128}$/.test(sub);
    return isValid ? { userRef: sub, adFree: readAdFree(payload) } : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** Only the value `true` frees a player from ads, so that a mistake in signing doesn't. */
function readAdFree({ ad_free: adFree, ad_free_formats: formats }: Record<string, unknown>) {
  if (adFree !== true) return [];
  return Array.isArray(formats)
    ? adFormats.filter((format) => formats.includes(format))
    : defaultAdFree;
}
