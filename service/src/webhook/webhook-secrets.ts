import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../key/secret-box.ts';
import type { Queries } from '../store/database.ts';

const purpose = 'webhook';

/** Makes the signing secret of a webhook and stores it sealed. */
export async function createWebhookSecret(
  queries: Queries,
  box: SecretBox,
  accountId: string,
  webhookId: string,
  nowMs: number,
): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await queries.query(
    `INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, $3, $4, $5)`,
    [accountId, purpose, `${webhookId}/1`, box.seal(secret), new Date(nowMs)],
  );
  return secret;
}

/** The secrets that a webhook is signed with, the newest first; several while one is being rotated. */
export async function readWebhookSecrets(
  queries: Queries,
  box: SecretBox,
  accountId: string,
  webhookId: string,
  nowMs: number,
): Promise<string[]> {
  const rows = await queries.query<{ sealed: string }>(
    `SELECT sealed FROM secrets
      WHERE account_id = $1 AND purpose = $2 AND starts_with(id, $3) AND (expires_at IS NULL OR expires_at > $4)
      ORDER BY created_at DESC, id DESC`,
    [accountId, purpose, `${webhookId}/`, new Date(nowMs)],
  );
  return rows.map(({ sealed }) => box.open(sealed));
}
