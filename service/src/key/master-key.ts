import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecretBox, type MasterKeys, type SecretBox } from './secret-box.ts';

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
 * @throws Error when a key file does not hold 32 bytes.
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
  throw new Error(
    `${file} holds ${key.length} bytes; expected the 32 bytes in base64 that it was created with.`,
  );
}

const decode = (text: string): Buffer => Buffer.from(text, 'base64');
