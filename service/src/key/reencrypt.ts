import type { Database } from '../store/database.ts';
import type { SecretBox } from './secret-box.ts';

interface EncryptedColumn {
  table: string;
  primaryKey: readonly string[];
  column: string;
}

/** Every column that can hold text from {@link SecretBox.seal}; some rows hold plain JSON instead. */
const encryptedColumns: readonly EncryptedColumn[] = [
  { table: 'secrets', primaryKey: ['account_id', 'purpose', 'id'], column: 'sealed' },
  { table: 'users', primaryKey: ['account_id', 'id'], column: 'codes_secret' },
  {
    table: 'idempotency_keys',
    primaryKey: ['account_id', 'environment', 'key'],
    column: 'answer',
  },
  { table: 'webhook_events', primaryKey: ['account_id', 'id'], column: 'body' },
];

const pageSize = 500;

type StoredRow = Record<string, string>;

/**
 * Re-encrypts every secret in the database with the first key of the box; its other keys decrypt the old
 * ciphertexts. Can be interrupted at any point and run again.
 *
 * @returns the number of secrets.
 * @throws MasterKeyError when no key decrypts a secret; those before it stay re-encrypted.
 */
export async function reencrypt(
  database: Database,
  box: SecretBox,
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  let done = 0;
  for (const { table, primaryKey, column } of encryptedColumns) {
    const key = primaryKey.join(', ');
    const keyParams = primaryKey.map((_, index) => `$${index + 1}`).join(', ');
    let after: readonly string[] = primaryKey.map(() => '');
    for (;;) {
      const rows = await database.query<StoredRow>(
        `SELECT ${key}, ${column} AS sealed FROM ${table}
          WHERE (${key}) > (${keyParams}) AND ${column} LIKE '1.%' ORDER BY ${key} LIMIT ${pageSize}`,
        after,
      );
      for (const row of rows) {
        const { sealed = '' } = row;
        after = primaryKey.map((name) => row[name] ?? '');
        // If the row has changed in the meantime, its writer encrypted it with a configured key.
        await database.query(
          `UPDATE ${table} SET ${column} = $${primaryKey.length + 1}
            WHERE (${key}) = (${keyParams}) AND ${column} = $${primaryKey.length + 2}`,
          [...after, box.seal(box.open(sealed)), sealed],
        );
        done += 1;
        onProgress(done);
      }
      if (rows.length < pageSize) break;
    }
  }
  return done;
}

/**
 * Removes everything that was encrypted with a lost master key, so that the service starts with a new one.
 * Webhooks have no signing secret afterwards, and users with one-time codes sign in without them.
 */
export function discardSecrets(database: Database): Promise<{ secrets: number; events: number }> {
  return database.transaction(async (queries) => {
    const secrets = await queries.query('DELETE FROM secrets RETURNING id');
    await queries.query(
      'UPDATE users SET codes_secret = NULL, codes_active = false WHERE codes_secret IS NOT NULL',
    );
    await queries.query('DELETE FROM idempotency_keys');
    // Encrypted bodies, which nobody can read any more.
    await queries.query(
      `DELETE FROM deliveries WHERE (account_id, event_id) IN
        (SELECT account_id, id FROM webhook_events WHERE body LIKE '1.%')`,
    );
    const events = await queries.query(
      `DELETE FROM webhook_events WHERE body LIKE '1.%' RETURNING id`,
    );
    return { secrets: secrets.length, events: events.length };
  });
}
