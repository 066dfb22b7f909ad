import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../key/secret-box.ts';
import type { Clock } from '../platform/clock.ts';
import { DomainError } from '../platform/domain-error.ts';
import type { Queries } from '../store/database.ts';

const purpose = 'webhook';

/** Maximum number of secrets that sign a webhook: each adds 120 bytes to the headers, and receivers read ten. */
const mostSecrets = 5;

/** Whose secrets these are. */
interface Owner {
  accountId: string;
  webhookId: string;
}

/**
 * Makes the next signing secret of a webhook and stores it sealed: `whsec_` and the base64 of 32 bytes,
 * as Standard Webhooks has it.
 *
 * @throws DomainError `conflict` when the maximum number of secrets already sign.
 */
export async function createWebhookSecret(
  queries: Queries,
  box: SecretBox,
  { accountId, webhookId }: Owner,
  nowMs: number,
): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const [{ count, signing } = { count: 0, signing: 0 }] = await queries.query<{
    count: number;
    signing: number;
  }>(
    `SELECT count(*)::bigint AS count,
        count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $4)::bigint AS signing
      FROM secrets WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3)`,
    [accountId, purpose, `${webhookId}/`, new Date(nowMs)],
  );
  if (signing >= mostSecrets) {
    throw new DomainError(
      'conflict',
      `${signing} secrets of this webhook sign already, and more may not at a time. Wait until the ` +
        'overlap of one has ended, or send an overlap_s of 0, which ends them all at once.',
    );
  }
  await queries.query(
    `INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, $3, $4, $5)`,
    [
      accountId,
      purpose,
      `${webhookId}/${String(count + 1).padStart(6, '0')}`,
      box.seal(secret),
      new Date(nowMs),
    ],
  );
  return secret;
}

/** Lets every secret of a webhook end at this time; those that end sooner stay so. */
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

/** A secret that signs until it expires. */
interface SigningSecret {
  secret: string;
  expiresAtMs: number;
}

/** The secrets of a webhook that may sign, the newest first; several while one is being rotated. */
export async function readWebhookSecrets(
  queries: Queries,
  box: SecretBox,
  { accountId, webhookId }: Owner,
): Promise<SigningSecret[]> {
  const rows = await queries.query<{ sealed: string; expires_at: Date | null }>(
    `SELECT sealed, expires_at FROM secrets
      WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3)
      ORDER BY id DESC LIMIT $4`,
    [accountId, purpose, `${webhookId}/`, mostSecrets],
  );
  return rows.map(({ sealed, expires_at }) => ({
    secret: box.open(sealed),
    expiresAtMs: expires_at?.getTime() ?? Infinity,
  }));
}

interface SecretCacheParts {
  clock: Pick<Clock, 'nowMs'>;
  /** The version of an account's configuration, which every rotation raises. */
  version(accountId: string): number | undefined;
  read(owner: Owner): Promise<SigningSecret[]>;
}

/** Webhooks whose secrets are kept in memory. */
const maxCached = 10_000;

/** Reads the secrets that sign for a webhook now: from the database once for each version of the configuration. */
export function createSecretCache({ clock, read, version }: SecretCacheParts) {
  const cache = new Map<
    string,
    { version: number | undefined; secrets: Promise<SigningSecret[]> }
  >();
  return async (accountId: string, webhookId: string): Promise<string[]> => {
    const current = version(accountId);
    let entry = cache.get(webhookId);
    if (!entry || entry.version !== current) {
      if (cache.size >= maxCached) cache.clear();
      const secrets = read({ accountId, webhookId });
      cache.set(webhookId, (entry = { version: current, secrets }));
      secrets.catch(() => cache.delete(webhookId));
    }
    const nowMs = clock.nowMs();
    const signing = (await entry.secrets).filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    return signing.map(({ secret }) => secret);
  };
}
