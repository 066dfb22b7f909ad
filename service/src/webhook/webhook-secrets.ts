import { BoundedMap } from '../platform/bounded-map.ts';
import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import { DomainError } from '../platform/domain-error.ts';
import type { Queries } from '../store/database.ts';

const purpose = 'webhook';

/**
 * Maximum number of active secrets per webhook. Each secret adds a 120-byte signature to the headers. Receivers read up
 * to ten signatures.
 */
const maxSecrets = 5;

/** The webhook that owns the secrets. */
interface Owner {
  accountId: string;
  webhookId: string;
}

/**
 * Creates a signing secret for a webhook and stores it encrypted. Uses the format of Standard Webhooks: `whsec_`
 * followed by 32 bytes in base64.
 *
 * @throws DomainError when the webhook has the maximum number of active secrets.
 */
export async function createWebhookSecret(
  queries: Queries,
  box: SecretBox,
  { accountId, webhookId }: Owner,
  nowMs: number,
): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await queries.query(
    'DELETE FROM secrets WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3) AND expires_at <= $4',
    [accountId, purpose, `${webhookId}/`, new Date(nowMs)],
  );
  const [{ active, newest } = { active: 0, newest: null }] = await queries.query<{
    active: number;
    newest: string | null;
  }>(
    `SELECT count(*)::bigint AS active, max(id) AS newest
      FROM secrets WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3)`,
    [accountId, purpose, `${webhookId}/`],
  );
  if (active >= maxSecrets) {
    throw new DomainError(
      'conflict',
      `This webhook has the maximum of ${active} active secrets. Wait until one of them expires, ` +
        'or send an overlap_s of 0, which makes all of them expire immediately.',
    );
  }
  await queries.query(
    `INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, $3, $4, $5)`,
    [
      accountId,
      purpose,
      `${webhookId}/${String(Number(newest?.split('/')[1] ?? 0) + 1).padStart(6, '0')}`,
      box.seal(secret),
      new Date(nowMs),
    ],
  );
  return secret;
}

/** Sets all of a webhook's secrets to expire at the given time. Secrets that expire earlier are not changed. */
export async function expireWebhookSecrets(
  queries: Queries,
  { accountId, webhookId }: Owner,
  atMs: number,
): Promise<void> {
  await queries.query(
    `UPDATE secrets SET expires_at = least(coalesce(expires_at, $4), $4)
      WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3)`,
    [accountId, purpose, `${webhookId}/`, new Date(atMs)],
  );
}

/** A secret that is active until it expires. */
interface SigningSecret {
  secret: string;
  expiresAtMs: number;
}

/** Reads a webhook's secrets, newest first. Several secrets are active during a rotation. */
export async function readWebhookSecrets(
  queries: Queries,
  box: SecretBox,
  { accountId, webhookId }: Owner,
): Promise<SigningSecret[]> {
  const rows = await queries.query<{ sealed: string; expires_at: Date | null }>(
    `SELECT sealed, expires_at FROM secrets
      WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3)
      ORDER BY id DESC LIMIT $4`,
    [accountId, purpose, `${webhookId}/`, maxSecrets],
  );
  return rows.map(({ sealed, expires_at }) => ({
    secret: box.open(sealed),
    expiresAtMs: expires_at?.getTime() ?? Infinity,
  }));
}

interface SecretCacheDeps {
  clock: Pick<Clock, 'nowMs'>;
  /** Returns an account's configuration version, which each rotation increments. */
  version(accountId: string): number | undefined;
  read(owner: Owner): Promise<SigningSecret[]>;
}

/** Maximum number of cached webhooks. */
const maxCached = 10_000;

/** Creates a cache of active secrets. An entry is valid until the account's configuration version changes. */
export function createSecretCache({ clock, read, version }: SecretCacheDeps) {
  const cache = new BoundedMap<
    string,
    { version: number | undefined; secrets: Promise<SigningSecret[]> }
  >(maxCached);
  return async (accountId: string, webhookId: string): Promise<string[]> => {
    const currentVersion = version(accountId);
    let entry = cache.get(webhookId);
    if (!entry || entry.version !== currentVersion) {
      const secrets = read({ accountId, webhookId });
      cache.set(webhookId, (entry = { version: currentVersion, secrets }));
      secrets.catch(() => cache.delete(webhookId));
    }
    const nowMs = clock.nowMs();
    const active = (await entry.secrets).filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    return active.map(({ secret }) => secret);
  };
}
