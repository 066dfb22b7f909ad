import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  createHmac,
  createSecretKey,
} from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataFolder, createFile, publishFile } from '../platform/durable-files.ts';
import type { Clock } from '../platform/time.ts';
import type { Database, Queries } from '../store/database.ts';

/** Encrypts secrets at rest. */
export interface SecretBox {
  seal(text: string): string;
  /** @throws MasterKeyError when no master key decrypts the text. */
  open(sealed: string): string;
}

/** 32-byte keys. The first key is used for encryption, and all of them are used for decryption. */
type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Thrown when no configured master key decrypts a stored secret. */
export class MasterKeyError extends Error {
  constructor() {
    super(
      'The master key cannot decrypt the secrets in the database. Put the master.key that they were ' +
        'encrypted with into the data folder, or set TRUEWARD_MASTER_KEY to it. If that key is lost for ' +
        'good, see trueward-service master-key discard --help.',
    );
    this.name = 'MasterKeyError';
  }
}

/** Encrypts with AES-256-GCM to `1.<iv>.<tag>.<ciphertext>` in base64url, where 1 is the format version. */
export function createSecretBox(keys: MasterKeys): SecretBox {
  return {
    seal(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keys[0], iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [
        '1',
        ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url')),
      ].join('.');
    },
    open(sealed) {
      const [format, iv, tag, body] = sealed.split('.');
      if (format !== '1' || iv === undefined || tag === undefined || body === undefined) {
        throw new Error('A stored secret has an unknown format.');
      }
      for (const key of keys) {
        const text = decrypt(key, iv, tag, body);
        if (text !== undefined) return text;
      }
      throw new MasterKeyError();
    },
  };
}

function decrypt(key: Uint8Array, iv: string, tag: string, body: string): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'));
  decipher.setAuthTag(Buffer.from(tag, 'base64url'));
  const text = decipher.update(Buffer.from(body, 'base64url'));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined; // The tag does not match: this is the wrong key, or the ciphertext is corrupt.
  }
}

interface KeyConfig {
  /**
   * 32 bytes in base64. By default, the key is read from `master.key` in the data folder, which is created on first
   * use.
   */
  masterKey?: string;
  /** A second key for decryption while the master key is being rotated. */
  otherMasterKey?: string;
  dataDirectory: string;
}

/**
 * Opens a secret box with the configured master keys.
 *
 * @throws Error when a key file does not contain 32 bytes.
 */
export const openSecretBox = (config: KeyConfig): SecretBox =>
  createSecretBox(readMasterKeys(config));

/**
 * Proves that the configured master key is the one with which the service's secrets are encrypted. Unlike
 * {@link openSecretBox}, never creates a key.
 *
 * @throws MasterKeyError
 */
export async function proveMasterKey(queries: Queries, config: KeyConfig): Promise<void> {
  const [row] = await queries.query<{ sealed: string }>(
    `SELECT sealed FROM secrets WHERE account_id = $1 AND sealed LIKE '1.%' LIMIT 1`,
    [serviceAccount],
  );
  // Before the service's first start, there is nothing to protect.
  if (!row) return;
  if (config.masterKey === undefined && !existsSync(keyFiles(config).current))
    throw new MasterKeyError();
  openSecretBox(config).open(row.sealed);
}

/** Reads the configured master keys. */
function readMasterKeys(config: KeyConfig): MasterKeys {
  const otherKeys = config.otherMasterKey === undefined ? [] : [decode(config.otherMasterKey)];
  if (config.masterKey !== undefined) return [decode(config.masterKey), ...otherKeys];
  const { current, next } = keyFiles(config);
  createKeyFile(current, config);
  // The next key exists only during a rotation, or after an interrupted rotation.
  return [readKeyFile(current), ...(existsSync(next) ? [readKeyFile(next)] : []), ...otherKeys];
}

/**
 * Starts rotating the key in the data folder. The returned box encrypts with the next key and decrypts with both keys.
 * When every secret is encrypted with the next key, call `finish` to make it the current key.
 */
export function beginFileRotation(config: KeyConfig): { box: SecretBox; finish(): Promise<void> } {
  const { current, next } = keyFiles(config);
  createKeyFile(next, config);
  return {
    box: createSecretBox([readKeyFile(next), ...readMasterKeys(config)]),
    finish: () => publishFile(next, current),
  };
}

const keyFiles = ({ dataDirectory }: KeyConfig) => ({
  current: join(dataDirectory, 'master.key'),
  next: join(dataDirectory, 'master.key.next'),
});

/** Creates a key file if it does not exist. */
function createKeyFile(file: string, { dataDirectory }: KeyConfig): void {
  makeDataFolder(dataDirectory);
  try {
    createFile(file, randomBytes(32).toString('base64'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function readKeyFile(file: string): Buffer {
  const key = decode(readFileSync(file, 'utf8').trim());
  if (key.length === 32) return key;
  throw new Error(`${file} contains ${key.length} bytes; expected 32 bytes in base64.`);
}

const decode = (text: string): Buffer => Buffer.from(text, 'base64');

interface EncryptedColumn {
  table: string;
  primaryKey: readonly string[];
  column: string;
}

/** All columns that contain text from {@link SecretBox.seal}. Some rows contain plaintext JSON instead. */
const encryptedColumns: readonly EncryptedColumn[] = [
  { table: 'secrets', primaryKey: ['account_id', 'purpose', 'id'], column: 'sealed' },
  { table: 'users', primaryKey: ['account_id', 'id'], column: 'codes_secret' },
  {
    table: 'idempotency_keys',
    primaryKey: ['account_id', 'environment', 'key'],
    column: 'answer',
  },
  { table: 'webhook_events', primaryKey: ['account_id', 'environment', 'id'], column: 'body' },
  {
    table: 'tracker_requests',
    primaryKey: ['account_id', 'decision_id', 'tracker'],
    column: 'client',
  },
];

const pageSize = 500;

type StoredRow = Record<string, string>;

/**
 * Re-encrypts every secret in the database with the box's first key. Can safely be interrupted at any point and rerun.
 *
 * @returns the number of secrets
 * @throws MasterKeyError when none of the box's keys decrypts a secret. Secrets that were processed before the failure
 * stay re-encrypted.
 */
export async function reencrypt(
  database: Database,
  box: SecretBox,
  onProgress: (count: number) => void = () => undefined,
): Promise<number> {
  let count = 0;
  for (const { table, primaryKey, column } of encryptedColumns) {
    const keyColumns = primaryKey.join(', ');
    const keyParams = primaryKey.map((_, index) => `$${index + 1}`).join(', ');
    let lastKey: readonly string[] = primaryKey.map(() => '');
    for (;;) {
      const rows = await database.query<StoredRow>(
        `SELECT ${keyColumns}, ${column} AS sealed FROM ${table}
          WHERE (${keyColumns}) > (${keyParams}) AND ${column} LIKE '1.%' ORDER BY ${keyColumns} LIMIT ${pageSize}`,
        lastKey,
      );
      for (const row of rows) {
        const { sealed = '' } = row;
        lastKey = primaryKey.map((name) => row[name] ?? '');
        // Skips rows that have changed since they were read, because the new value was encrypted with a configured key.
        await database.query(
          `UPDATE ${table} SET ${column} = $${primaryKey.length + 1}
            WHERE (${keyColumns}) = (${keyParams}) AND ${column} = $${primaryKey.length + 2}`,
          [...lastKey, box.seal(box.open(sealed)), sealed],
        );
        count += 1;
        onProgress(count);
      }
      if (rows.length < pageSize) break;
    }
  }
  return count;
}

/**
 * Deletes all data that was encrypted with a lost master key, so that the service can start with a new key. Afterward,
 * webhooks have no signing secret, and panel users sign in without one-time codes.
 */
export function discardSecrets(database: Database): Promise<{ secrets: number; events: number }> {
  return database.transaction(async (queries) => {
    const secrets = await queries.query('DELETE FROM secrets RETURNING id');
    await queries.query(
      'UPDATE users SET codes_secret = NULL, codes_active = false WHERE codes_secret IS NOT NULL',
    );
    await queries.query('DELETE FROM idempotency_keys');
    // The bodies of these webhook events are encrypted, so their deliveries are deleted too.
    for (const table of ['delivery_queue', 'finished_deliveries'])
      await queries.query(
        `DELETE FROM ${table} WHERE (account_id, event_id) IN
          (SELECT account_id, id FROM webhook_events WHERE body LIKE '1.%')`,
      );
    await queries.query('UPDATE tracker_requests SET client = NULL WHERE client IS NOT NULL');
    const events = await queries.query(
      `DELETE FROM webhook_events WHERE body LIKE '1.%' RETURNING id`,
    );
    return { secrets: secrets.length, events: events.length };
  });
}

/** The account id of rows that belong to the service itself. */
export const serviceAccount = 'service';

/**
 * Returns the service's secret for a purpose. The first call creates the secret. All processes that use the same
 * database share it.
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
