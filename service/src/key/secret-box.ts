import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Encrypts secrets at rest. */
export interface SecretBox {
  seal(text: string): string;
  /** @throws MasterKeyError when no master key decrypts the text. */
  open(sealed: string): string;
}

/** 32 bytes each. The first one encrypts; each of them decrypts. */
type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

/** A stored secret was encrypted with a master key that is not configured here. */
export class MasterKeyError extends Error {
  constructor() {
    super(
      'The master key does not decrypt the secrets in the database. Put the master.key that they were ' +
        'encrypted with into the data folder, or set TRUEWARD_MASTER_KEY to it. If that key is lost for ' +
        'good, see trueward-service master-key discard --help.',
    );
    this.name = 'MasterKeyError';
  }
}

/** AES-256-GCM; the text is `1.<iv>.<tag>.<ciphertext>` in base64url, where 1 is the version of the format. */
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
    return undefined; // The tag does not match: a different key, or a corrupted text.
  }
}

interface KeyConfig {
  /** 32 bytes in base64; absent: `master.key` in the data folder, created on first use. */
  masterKey?: string;
  /** A second key that also decrypts, while master keys are rotated. */
  otherMasterKey?: string;
  dataDirectory: string;
}

/**
 * The secret box of the configuration: `TRUEWARD_MASTER_KEY`, else `master.key` in the data folder.
 *
 * @throws Error when a key file does not contain 32 bytes.
 */
export const openSecretBox = (config: KeyConfig): SecretBox =>
  createSecretBox(readMasterKeys(config));

/** The first one encrypts; each of them decrypts. */
function readMasterKeys(config: KeyConfig): MasterKeys {
  const other = config.otherMasterKey === undefined ? [] : [decode(config.otherMasterKey)];
  if (config.masterKey !== undefined) return [decode(config.masterKey), ...other];
  const { current, next } = keyFiles(config);
  createKeyFile(current, config);
  // The next key exists only during a rotation, or after one was interrupted.
  return [readKeyFile(current), ...(existsSync(next) ? [readKeyFile(next)] : []), ...other];
}

/**
 * Begins to rotate the key in the data folder: the box encrypts with the next key and decrypts with
 * both. `finish` makes the next key the current one; call it when everything is encrypted with it.
 */
export function beginFileRotation(config: KeyConfig): { box: SecretBox; finish(): void } {
  const { current, next } = keyFiles(config);
  createKeyFile(next, config);
  return {
    box: createSecretBox([readKeyFile(next), ...readMasterKeys(config)]),
    finish: () => renameSync(next, current),
  };
}

const keyFiles = ({ dataDirectory }: KeyConfig) => ({
  current: join(dataDirectory, 'master.key'),
  next: join(dataDirectory, 'master.key.next'),
});

/** Keeps an existing file. */
function createKeyFile(file: string, { dataDirectory }: KeyConfig): void {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
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
