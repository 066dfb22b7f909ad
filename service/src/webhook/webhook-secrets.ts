import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../key/secret-box.ts';
import { RefusedError } from '../platform/refused-error.ts';
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
 * @throws RefusedError `conflict` when the maximum number of secrets already sign.
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
    throw new RefusedError(
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

/** The secrets that a webhook is signed with, the newest first; several while one is being rotated. */
export async function readWebhookSecrets(
  queries: Queries,
  box: SecretBox,
  { accountId, webhookId }: Owner,
  nowMs: number,
): Promise<string[]> {
  const rows = await queries.query<{ sealed: string }>(
    `SELECT sealed FROM secrets
      WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3) AND (expires_at IS NULL OR expires_at > $4)
      ORDER BY id DESC LIMIT $5`,
    [accountId, purpose, `${webhookId}/`, new Date(nowMs), mostSecrets],
  );
  return rows.map(({ sealed }) => box.open(sealed));
}
