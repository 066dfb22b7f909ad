import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { Queries } from '../store/database.ts';
import type { SecretBox } from './secret-box.ts';

/** The account id of rows that belong to the service itself. */
export const serviceAccount = 'service';

/**
 * Returns the service's secret for a purpose. The first call creates the secret. All processes with the same database
 * share it.
 */
export async function readServiceSecret(
  queries: Queries,
  box: SecretBox,
  clock: Clock,
  purpose: string,
  make: () => Promise<string> | string = () => randomBytes(32).toString('base64url'),
): Promise<string> {
  const read = async () => {
    const [row] = await queries.query<{ sealed: string }>(
      `SELECT sealed FROM secrets WHERE account_id = $1 AND purpose = $2 AND id = '1'`,
      [serviceAccount, purpose],
    );
    return row && box.open(row.sealed);
  };
  const existing = await read();
  if (existing !== undefined) return existing;
  await queries.query(
    `INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, '1', $3, $4)
      ON CONFLICT DO NOTHING`,
    [serviceAccount, purpose, box.seal(await make()), new Date(clock.nowMs())],
  );
  const storedSecret = await read();
  if (storedSecret === undefined) throw new Error(`The secret ${purpose} could not be stored.`);
  return storedSecret;
}

/** Returns a function that computes the HMAC-SHA256 of a text, in base64url. */
export function createMac(secret: string): (text: string) => string {
  const key = createSecretKey(secret, 'utf8');
  return (text) => createHmac('sha256', key).update(text).digest('base64url');
}
